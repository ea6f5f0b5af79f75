import type { Database } from "../database/database.ts";

/**
 * Gives a warning for each way in which the serving role is above the rights that hold it: superuser,
 * above row level security, owner of tables of the schema.
 * @see DECISIONS 9
 */
export async function findRoleWarnings(
  database: Database,
  schema: string,
): Promise<readonly string[]> {
  const [role] = await database.run<{ name: string; super: string; above: string; owner: string }>(
    (sql) =>
      sql`select r.rolname::text as name, r.rolsuper::text as super, r.rolbypassrls::text as above,
          exists (
            select from pg_catalog.pg_class c
            join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = ${schema}::text
            where c.relkind in ('r', 'p')
              and pg_catalog.pg_has_role(c.relowner, 'USAGE')
          )::text as owner
        from pg_catalog.pg_roles r where r.rolname = current_user`,
    { write: false },
  );
  if (role === undefined) return [];
  const advice = '"rowgate setup --print" shows a role to serve with';
  if (role.super === "true") return [`the database role ${role.name} is a superuser; ${advice}`];
  return [
    ...(role.above === "true"
      ? [`the database role ${role.name} is above row level security; ${advice}`]
      : []),
    ...(role.owner === "true"
      ? [`the database role ${role.name} owns tables of the schema ${schema}; ${advice}`]
      : []),
  ];
}
