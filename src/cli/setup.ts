import type { Command } from "commander";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { Host } from "../server/runtime/host.ts";
import { SCHEMA_STATEMENTS } from "../database/schema/statements.ts";
import { quoteText } from "../basics/text/quote_text.ts";
import { describeCitus } from "./describe_citus.ts";
import { describeGrants, prepareSchema } from "./prepare_schema.ts";
import { readSettings } from "./read_settings.ts";
import type { RunWork } from "./subcommand.ts";
import { withCatalogue, withDatabase } from "./with_database.ts";

const EXAMPLES = `
Examples:
  rowgate setup            Create or migrate the schema; DATABASE_URL names a role that may
  rowgate setup --print    Print the SQL that does so and creates a role to serve with
  rowgate setup --citus    Print the SQL that distributes the tables by their tenants, for Citus`;

/** Adds `rowgate setup [--print]`. @see R34 */
export function addSetup(root: Command, run: RunWork): void {
  root.command("setup")
    .description("Create the schema rowgate, which holds tokens, the audit and webhooks")
    .option("--print", "Print the SQL for the schema, a role and its rights; run nothing")
    .option("--citus", "Print the SQL that distributes the exposed tables with Citus; run nothing")
    .addHelpText("after", EXAMPLES)
    .action(({ print, citus }: { readonly print?: boolean; readonly citus?: boolean }) =>
      run(citus ? printCitus : print ? printSetup : setUp)
    );
}

function printCitus(host: Host): Promise<number> {
  return withDatabase(host, (opened) =>
    withCatalogue(opened, async (current) => {
      const { config, database } = opened;
      const catalogue = await current.current();
      host.stdout.write(await describeCitus({ config, catalogue, database }));
      return 0;
    }));
}

async function printSetup(host: Host): Promise<number> {
  const { config } = await readSettings(host);
  host.stdout.write(describeSetup(config.schemas));
  return 0;
}

function setUp(host: Host): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    const changed = await prepareSchema(database, host.stderr);
    host.stderr.write(
      changed ? "The schema rowgate is ready.\n" : "The schema rowgate was ready already.\n",
    );
    return 0;
  });
}

function describeTableGrants(schema: string): string {
  const quoted = quoteIdentifier(schema);
  return `do $rowgate$ begin
  if not exists (
    select from pg_catalog.pg_class c
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid
    cross join lateral pg_catalog.aclexplode(coalesce(a.attacl, c.relacl)) entry
    where c.relnamespace = ${quoteText(quoted)}::pg_catalog.regnamespace
      and entry.grantee = 'rowgate_app'::pg_catalog.regrole
  ) then
    -- Clients can reach no more than this. Narrow it to the tables and columns that they need.
    grant usage on schema ${quoted} to rowgate_app;
    grant select, update on all tables in schema ${quoted} to rowgate_app;
    -- Clients create and delete nothing yet. For tokens with these scopes, name the tables:
    -- grant insert, delete on ${quoted}.a_table to rowgate_app;
    -- A serial column takes its numbers from a sequence, which needs this as well; an identity column does not:
    -- grant usage on sequence ${quoted}.a_table_id_seq to rowgate_app;
  end if;
end $rowgate$;
`;
}

/** Prints the SQL of schema, role and rights, for psql. */
function describeSetup(schemas: readonly string[]): string {
  return `-- Run this as the owner of the database. It can be run again.

begin;
-- The schema that holds the tokens, the audit and the webhooks.
${SCHEMA_STATEMENTS.map((text) => `${text};`).join("\n")}

-- A role to serve with: no superuser, owner of no table, held by row level security. Roles belong to
-- the whole server, so it may exist already for another database.
do $rowgate$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'rowgate_app') then
    create role rowgate_app login nosuperuser nocreatedb nocreaterole nobypassrls;
  end if;
end $rowgate$;
-- Its rights on your tables. Where it has some already, they stay as they are.
${
    schemas.map(describeTableGrants).join("")
  }-- Set its password with \\password rowgate_app in psql, so that no log contains it.
${describeGrants("rowgate_app", { audit: true, webhooks: true }).join("\n")}
commit;

-- With ROWGATE_AUDIT_DAYS the service deletes old audit records, for which its role needs this. Such
-- a role could delete other records too; if it must not, delete old ones as the owner instead.
-- grant select, delete on rowgate.audit to rowgate_app;

-- The role that runs "rowgate token create", "revoke" and "rotate" needs this:
-- grant select, insert, update on rowgate.tokens to that_role;
-- The role that runs "rowgate audit" needs this:
-- grant select on rowgate.audit to that_role;
`;
}
