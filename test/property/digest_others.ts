import type { Sql } from "../../src/database/postgres/driver.ts";

/** The columns that hold the tenant in the tables of the fixture; other tables have no tenant. */
const TENANT_COLUMNS = ["tenant_id", "org_id", "org", "company_no", "account_id"];

/**
 * Digests, for each table of the fixture, every row that is not tenant 1's: its place, version and
 * values, so that even a write that changes nothing is noticed.
 */
export async function digestOthers(admin: Sql): Promise<Record<string, string>> {
  const tables = await admin<{ name: string; tenant: string | null }[]>`
    select c.oid::regclass::text as name, (select quote_ident(a.attname) from pg_attribute a
      where a.attrelid = c.oid and a.attname = any(${`{${TENANT_COLUMNS}}`}::text::text[])) as tenant
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`;
  const digests: Record<string, string> = {};
  for (const { name, tenant } of tables) {
    const others = tenant === null ? "true" : `${tenant}::text <> '1'`;
    const [row] = await admin.unsafe(
      `select count(*) || ' ' || md5(coalesce(string_agg("$d", '' order by "$d"), '')) "digest" from (
        select md5("$t".ctid::text || "$t".xmin::text || "$t"::text) "$d"
        from ${name} "$t" where ${others}) "$r"`,
    );
    digests[name] = row!.digest;
  }
  return digests;
}
