import type { StoredTable } from "../../catalogue/stored_table.ts";
import type { Table } from "../../catalogue/catalogue.ts";
import { callTable } from "../../catalogue/table_names.ts";
import { qualifyTable, quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { askJson, type Check, type Diagnosis, type Finding, type Setup } from "./diagnosis.ts";
import { printArray } from "../../basics/text/array_text.ts";
import type { Database } from "../../database/postgres/database.ts";

const SETUP = "rowgate setup --print    # shows a role with the rights that serving needs";

/** The serving role should have no more rights than serving needs. @see R39 */
export const checkRole: Check = { name: "serving role", examine: examineRole };

async function examineRole({ database, config, catalogue }: Setup): Promise<Diagnosis> {
  if (config.databaseUrl === undefined) {
    return { seen: "embedded; there are no other sessions", findings: [] };
  }
  const tables = [...catalogue.tables.values()];
  const identifiers = tables.map(({ identifier }) => identifier);
  const role = await readRole(database, { schemas: config.schemas, tables: identifiers });
  const rights = role.superuser ? [] : [
    ...checkOwner(role, config.schemas),
    ...checkRights(role, { schemas: config.schemas, tables }),
    ...checkMemberships(role),
  ];
  return { seen: role.name, findings: [...checkPowers(role), ...rights] };
}

function checkPowers({ name, superuser, bypassesRowSecurity }: Role): Finding[] {
  if (superuser) {
    return [{
      id: "superuser",
      level: "error",
      what: `the role ${name} is a superuser`,
      why: "grants and policies do not apply to it, so only Rowgate itself separates the tenants",
      fix: SETUP,
    }];
  }
  if (!bypassesRowSecurity) return [];
  return [{
    id: "bypass_row_security",
    level: "error",
    what: `the role ${name} bypasses row level security`,
    why: "the policies on your tables do not apply to it",
    fix: `alter role ${quoteIdentifier(name)} nobypassrls;`,
  }];
}

function checkOwner({ name, owned }: Role, schemas: readonly string[]): Finding[] {
  if (owned === null) return [];
  return [{
    id: "owner",
    level: "error",
    what: `the role ${name} owns ${list(owned, schemas)}`,
    why:
      "an owner may do anything with its tables, and row level security applies to it only if forced",
    fix: SETUP,
  }];
}

/** Finds rights that no request can use. INSERT and DELETE are used where clients create and delete. */
function checkRights(
  { name, owned, writable }: Role,
  { schemas, tables }: {
    readonly schemas: readonly string[];
    readonly tables: readonly Pick<
      Table,
      "identifier" | "creatable" | "deletable" | "softDelete"
    >[];
  },
): Finding[] {
  const own = new Set(owned?.map((table) => qualifyTable(table.schema, table.name)));
  const served = new Map(tables.map((table) => [table.identifier, table]));
  const excess = (writable ?? []).filter((table) =>
    !own.has(qualifyTable(table.schema, table.name)) &&
    (table.truncates || isExcessiveInsert(table) || isExcessiveDelete(table))
  );
  if (excess.length === 0) return [];
  const rights = [
    ...(excess.some(isExcessiveInsert) ? ["insert"] : []),
    ...(excess.some(isExcessiveDelete) ? ["delete"] : []),
    ...(excess.some(({ truncates }) => truncates) ? ["truncate"] : []),
  ];
  return [{
    id: "role_rights",
    level: "warning",
    what: `the role ${name} may ${describeRights(rights)} ${list(excess, schemas)}`,
    why:
      "serving needs SELECT and UPDATE, and INSERT or DELETE only where clients create or delete",
    fix: `revoke ${rights.join(", ")} on ${
      excess.map((table) => qualifyTable(table.schema, table.name)).join(", ")
    } from ${quoteIdentifier(name)};`,
  }];

  function isExcessiveInsert(table: WritableTable): boolean {
    return table.inserts && !served.get(qualifyTable(table.schema, table.name))?.creatable;
  }

  function isExcessiveDelete(table: WritableTable): boolean {
    const { deletable, softDelete } = served.get(qualifyTable(table.schema, table.name)) ?? {};
    return table.deletes && (!deletable || softDelete !== undefined);
  }
}

const PHRASES: Readonly<Record<string, string>> = {
  insert: "insert into",
  delete: "delete from",
  truncate: "truncate",
};

/** `insert into, delete from or truncate`. */
function describeRights(rights: readonly string[]): string {
  return rights.map((right) => PHRASES[right]).join(", ").replace(/, ([^,]*)$/, " or $1");
}

function checkMemberships({ name, memberOf }: Role): Finding[] {
  return (memberOf ?? []).map((group) => ({
    id: `role_member:${group}`,
    level: "error",
    what: `the role ${name} has the rights of ${group}`,
    why: "they reach beyond the tables that it serves",
    fix: `revoke ${quoteIdentifier(group)} from ${quoteIdentifier(name)};`,
  }));
}

/** Lists the first five names and the number of the others. */
function list(tables: readonly StoredName[], schemas: readonly string[]): string {
  const names = tables.map((table) => callTable(table, schemas));
  const first = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${first} and ${names.length - 5} more` : first;
}

/** A table as the database names it. */
type StoredName = Pick<StoredTable, "schema" | "name">;

/** A table, and the rights on it besides SELECT and UPDATE. */
interface WritableTable extends StoredName {
  readonly inserts: boolean;
  readonly deletes: boolean;
  readonly truncates: boolean;
}

/** What the serving role is, and what it may do beyond reading. */
export interface Role {
  readonly name: string;
  readonly superuser: boolean;
  readonly bypassesRowSecurity: boolean;
  /** Tables of the schemas; null: none. */
  readonly owned: readonly StoredName[] | null;
  /** Those of the given tables that it may insert into, delete from or truncate. */
  readonly writable: readonly WritableTable[] | null;
  readonly memberOf: readonly string[] | null;
}

/** The tables for which rights are read. */
export interface RoleScope {
  readonly schemas: readonly string[];
  /** Tables, qualified and quoted. */
  readonly tables: readonly string[];
}

/**
 * Reads from Postgres's catalogue what the role of the session is and may do.
 * @throws {DatabaseError}
 */
export function readRole(database: Database, { schemas, tables }: RoleScope): Promise<Role> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'name', r.rolname, 'superuser', r.rolsuper, 'bypassesRowSecurity', r.rolbypassrls,
      'owned', (select pg_catalog.json_agg(pg_catalog.json_build_object(
          'schema', n.nspname, 'name', c.relname) order by n.nspname, c.relname)
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = any (${printArray(schemas)}::text::text[]) and c.relkind in ('r', 'p')
          and pg_catalog.pg_has_role(c.relowner, 'USAGE')),
      'writable', (select pg_catalog.json_agg(pg_catalog.json_build_object(
          'schema', n.nspname, 'name', c.relname,
          'inserts', pg_catalog.has_table_privilege(c.oid, 'INSERT'),
          'deletes', pg_catalog.has_table_privilege(c.oid, 'DELETE'),
          'truncates', pg_catalog.has_table_privilege(c.oid, 'TRUNCATE'))
          order by n.nspname, c.relname)
        from unnest(${printArray(tables)}::text::text[]) wanted (identifier)
        join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(wanted.identifier)
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p')
          and pg_catalog.has_table_privilege(c.oid, 'INSERT, DELETE, TRUNCATE')),
      'memberOf', (select pg_catalog.json_agg(g.rolname order by g.rolname)
        from pg_catalog.pg_roles g
        where g.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files',
          'pg_write_server_files', 'pg_execute_server_program')
          and pg_catalog.pg_has_role(g.oid, 'USAGE')))::text as found
    from pg_catalog.pg_roles r
    where r.rolname = current_user`);
}
