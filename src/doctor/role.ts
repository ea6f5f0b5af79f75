import { qualify, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { Check, Diagnosis, Finding, Setup } from "./diagnosis.ts";
import { readRole, type Role } from "./read_role.ts";

const SETUP = "rowgate setup --print    # a role with the rights that serving needs, and no other";

/** The serving role must not be able to do more than clients may. @see R39 */
export const checkRole: Check = { name: "serving role", look };

async function look({ database, config, catalogue }: Setup): Promise<Diagnosis> {
  if (config.databaseUrl === undefined) {
    return { seen: "embedded: nobody else has a session there", findings: [] };
  }
  const tables = [...catalogue.tables.keys()];
  const role = await readRole(database, { schema: config.schema, tables });
  const rights = role.superuser ? [] : [...judgeOwner(role), ...judgeRights(role, config.schema)];
  return { seen: role.name, findings: [...judgeRole(role), ...rights] };
}

function judgeRole({ name, superuser, aboveRowSecurity }: Role): Finding[] {
  if (superuser) {
    return [{
      level: "error",
      what: `the role ${name} is a superuser`,
      why: "no right and no policy of Postgres holds it: the code is the only wall",
      fix: SETUP,
    }];
  }
  if (!aboveRowSecurity) return [];
  return [{
    level: "error",
    what: `the role ${name} is above row level security`,
    why: "policies on your tables do not hold it",
    fix: `alter role ${quoteIdentifier(name)} nobypassrls;`,
  }];
}

function judgeOwner({ name, owned }: Role): Finding[] {
  if (owned === null) return [];
  return [{
    level: "error",
    what: `the role ${name} owns ${list(owned)}`,
    why:
      "an owner may do everything to a table, and row level security does not hold it unless forced",
    fix: SETUP,
  }];
}

function judgeRights({ name, owned, writable, memberOf }: Role, schema: string): Finding[] {
  const findings: Finding[] = [];
  const needless = writable?.filter((table) => !owned?.includes(table)) ?? [];
  if (needless.length > 0) {
    findings.push({
      level: "warning",
      what: `the role ${name} may insert into, delete from or empty ${list(needless)}`,
      why: "serving needs SELECT and UPDATE alone",
      fix: `revoke insert, delete, truncate on ${
        needless.map((table) => qualify(schema, table)).join(", ")
      } from ${quoteIdentifier(name)};`,
    });
  }
  for (const group of memberOf ?? []) {
    findings.push({
      level: "error",
      what: `the role ${name} has the rights of ${group}`,
      why: "they reach beyond the tables that it is to serve",
      fix: `revoke ${quoteIdentifier(group)} from ${quoteIdentifier(name)};`,
    });
  }
  return findings;
}

/** The first of them by name, the others by number. */
function list(names: readonly string[]): string {
  const first = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${first} and ${names.length - 5} more` : first;
}
