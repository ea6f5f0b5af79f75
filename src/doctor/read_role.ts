import { printArray } from "../text/array_text.ts";
import type { Database } from "../postgres/database.ts";
import { askJson } from "./ask.ts";

/** What the serving role is and may do beyond reading. */
export interface Role {
  readonly name: string;
  readonly superuser: boolean;
  readonly aboveRowSecurity: boolean;
  /** Tables of the schema; null: none. */
  readonly owned: readonly string[] | null;
  /** Of the tables asked about, those that it may insert into, delete from or empty. */
  readonly writable: readonly string[] | null;
  readonly memberOf: readonly string[] | null;
}

/** Where a role's rights are looked at. */
export interface RoleScope {
  readonly schema: string;
  /** Names of tables in it. */
  readonly tables: readonly string[];
}

/**
 * Asks Postgres's own catalogue what the role of the session is and may do.
 * @throws {ApiError} as the database rejects
 */
export function readRole(database: Database, { schema, tables }: RoleScope): Promise<Role> {
  return askJson(database, (sql) =>
    sql`select pg_catalog.json_build_object(
      'name', r.rolname, 'superuser', r.rolsuper, 'aboveRowSecurity', r.rolbypassrls,
      'owned', (select pg_catalog.json_agg(c.relname order by c.relname)
        from pg_catalog.pg_class c
        where c.relnamespace = n.oid and c.relkind in ('r', 'p')
          and pg_catalog.pg_has_role(c.relowner, 'USAGE')),
      'writable', (select pg_catalog.json_agg(c.relname order by c.relname)
        from pg_catalog.pg_class c
        where c.relnamespace = n.oid and c.relname = any (${printArray(tables)}::text::text[])
          and c.relkind in ('r', 'p')
          and pg_catalog.has_table_privilege(c.oid, 'INSERT, DELETE, TRUNCATE')),
      'memberOf', (select pg_catalog.json_agg(g.rolname order by g.rolname)
        from pg_catalog.pg_roles g
        where g.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files',
          'pg_write_server_files', 'pg_execute_server_program')
          and pg_catalog.pg_has_role(g.oid, 'USAGE')))::text as found
    from pg_catalog.pg_roles r
    left join pg_catalog.pg_namespace n on n.nspname = ${schema}::text
    where r.rolname = current_user`);
}
