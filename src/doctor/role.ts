import { printArray } from "../array_text.ts";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { askJson } from "./ask.ts";
import type { Check, Diagnosis, Finding, Setup } from "./diagnosis.ts";

/** What the serving role is and may do. */
interface Role {
  readonly name: string;
  readonly superuser: boolean;
  readonly aboveRowSecurity: boolean;
  readonly owned: readonly string[] | null;
  /** Exposed tables that it may insert into, delete from or empty. */
  readonly writable: readonly string[] | null;
  readonly memberOf: readonly string[] | null;
}

const SETUP = "rowgate setup --print    # a role with the rights that serving needs, and no other";

/** The serving role must not be able to do more than clients may. @see DECISIONS 9 */
export const checkRole: Check = { name: "serving role", look };

async function look(setup: Setup): Promise<Diagnosis> {
  if (setup.config.databaseUrl === undefined) {
    return { seen: "embedded: nobody else has a session there", findings: [] };
  }
  const role = await readRole(setup);
  const rights = role.superuser ? [] : [...judgeOwner(role), ...judgeRights(role)];
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

function judgeRights({ name, owned, writable, memberOf }: Role): Finding[] {
  const findings: Finding[] = [];
  const needless = writable?.filter((table) => !owned?.includes(table)) ?? [];
  if (needless.length > 0) {
    findings.push({
      level: "warning",
      what: `the role ${name} may insert into, delete from or empty ${list(needless)}`,
      why: "serving needs SELECT and UPDATE alone",
      fix: `revoke insert, delete, truncate on ${needless.map(quoteIdentifier).join(", ")} from ${
        quoteIdentifier(name)
      };`,
    });
  }
  for (const group of memberOf ?? []) {
    findings.push({
      level: "error",
      what: `the role ${name} has the rights of ${group}`,
      why: "they reach beyond the tables that it is to serve",
      fix: `revoke ${group} from ${quoteIdentifier(name)};`,
    });
  }
  return findings;
}

function readRole({ database, config, catalogue }: Setup): Promise<Role> {
  const exposed = printArray([...catalogue.tables.keys()]);
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'name', r.rolname, 'superuser', r.rolsuper, 'aboveRowSecurity', r.rolbypassrls,
      'owned', (select pg_catalog.json_agg(c.relname order by c.relname)
        from pg_catalog.pg_class c
        where c.relnamespace = n.oid and c.relkind in ('r', 'p') and not c.relispartition
          and pg_catalog.pg_has_role(c.relowner, 'USAGE')),
      'writable', (select pg_catalog.json_agg(c.relname order by c.relname)
        from pg_catalog.pg_class c
        where c.relnamespace = n.oid and c.relname = any (${exposed}::text::text[])
          and c.relkind in ('r', 'p')
          and pg_catalog.has_table_privilege(c.oid, 'INSERT, DELETE, TRUNCATE')),
      'memberOf', (select pg_catalog.json_agg(g.rolname order by g.rolname)
        from pg_catalog.pg_roles g
        where g.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files',
          'pg_write_server_files', 'pg_execute_server_program')
          and pg_catalog.pg_has_role(g.oid, 'USAGE')))::text as found
    from pg_catalog.pg_roles r
    left join pg_catalog.pg_namespace n on n.nspname = ${config.schema}::text
    where r.rolname = current_user`);
}

/** The first of them by name, the others by number. */
function list(names: readonly string[]): string {
  const first = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${first} and ${names.length - 5} more` : first;
}
