import type { Database } from "../postgres/database.ts";
import { readRole } from "../doctor/read_role.ts";

/**
 * Gives a warning for each way in which the serving role is above the rights that hold it: superuser,
 * above row level security, owner of tables of the schema.
 * @throws {ApiError} as the database rejects
 * @see R38
 */
export async function findRoleWarnings(
  database: Database,
  schema: string,
): Promise<readonly string[]> {
  const role = await readRole(database, { schema, tables: [] });
  const advice = '"rowgate setup --print" shows a role to serve with';
  if (role.superuser) return [`the database role ${role.name} is a superuser; ${advice}`];
  return [
    ...(role.aboveRowSecurity
      ? [`the database role ${role.name} is above row level security; ${advice}`]
      : []),
    ...(role.owned !== null
      ? [`the database role ${role.name} owns tables of the schema ${schema}; ${advice}`]
      : []),
  ];
}
