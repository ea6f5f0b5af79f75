import type { Command } from "commander";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { Host } from "../runtime/host.ts";
import { SCHEMA_STATEMENTS } from "../schema/statements.ts";
import type { Run } from "./subcommand.ts";
import { describeGrants, prepareDatabase } from "./prepare_schema.ts";
import { readSettings } from "./read_settings.ts";
import { withDatabase } from "./with_database.ts";

const EXAMPLE = `
Examples:
  rowgate setup            makes the schema rowgate, as a role that may
  rowgate setup --print    prints the statements for a role and its rights, and runs nothing`;

/** Adds `rowgate setup [--print]`. @see R34 */
export function addSetup(root: Command, run: Run): void {
  root.command("setup")
    .description("make the schema rowgate, which holds tokens and audit, or print how")
    .option("--print", "print the statements for role, rights and schema, and run nothing")
    .addHelpText("after", EXAMPLE)
    .action(({ print }: { readonly print?: boolean }) => run(print ? printSetup : setUp));
}

async function printSetup(host: Host): Promise<number> {
  const { config } = await readSettings(host);
  host.stdout.write(describeSetup(config.schema));
  return 0;
}

function setUp(host: Host): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    const made = await prepareDatabase(database, host.stderr);
    host.stderr.write(made ? "The schema rowgate was made.\n" : "The schema rowgate is there.\n");
    return 0;
  });
}

/** Prints the statements of schema, role and rights, for psql. */
function describeSetup(schema: string): string {
  const quoted = quoteIdentifier(schema);
  return `-- The schema that holds tokens and audit. Run as the owner of the database.
${SCHEMA_STATEMENTS.map((text) => `${text};`).join("\n")}

-- A role to serve with: no superuser, no owner of tables, not above row level security. Where it is
-- there already, nothing that you took from it is given back.
do $rowgate$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'rowgate_app') then
    create role rowgate_app login nosuperuser nocreatedb nocreaterole nobypassrls;
    -- Its rights are what clients can reach at most. Narrow these to tables and columns as you like.
    grant usage on schema ${quoted} to rowgate_app;
    grant select, update on all tables in schema ${quoted} to rowgate_app;
  end if;
end $rowgate$;
-- Give it a password with \\password rowgate_app in psql, so that no log holds it.
${describeGrants("rowgate_app", { audit: true }).join("\n")}
-- With ROWGATE_AUDIT_DAYS it deletes old rows of the audit, and could delete others; leave this out
-- and delete them as the owner where the role must not be able to:
-- grant select, delete on rowgate.audit to rowgate_app;

-- "rowgate token create", "revoke" and "rotate" need a role that may write tokens as well:
-- grant select, insert, update on rowgate.tokens to that_role;
-- "rowgate audit" needs one that may read it:
-- grant select on rowgate.audit to that_role;
`;
}
