import type { Sql } from "../../src/database/postgres/driver.ts";

const TENANT_COLUMNS = ["tenant_id", "org_id", "org", "account_id", "company_no"];
const TENANT_VALUES: Readonly<Record<number, string>> = {
  1: "11111111-1111-4111-8111-111111111111",
  2: "22222222-2222-4222-8222-222222222222",
};

/**
 * Returns one digest for each table of the fixture over all rows of a tenant (1 or 2), read as superuser;
 * two calls give the same exactly when nothing of that tenant was changed between them.
 */
export async function checksumTenant(sql: Sql, tenant: number): Promise<Record<string, string>> {
  const tables = await sql<{ name: string; column: string }[]>`
    select c.relname as name, a.attname as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname in ${sql(TENANT_COLUMNS)} and not a.attisdropped
    order by c.relname`;
  const digests: Record<string, string> = {};
  for (const { name, column } of tables) {
    const [row] = await sql<{ digest: string }[]>`
      select count(*) || ':' || md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as digest
      from ${sql(name)} t
      where ${sql(column)}::text in (${String(tenant)}, ${TENANT_VALUES[tenant] ?? ""})`;
    digests[name] = row?.digest ?? "";
  }
  return digests;
}
