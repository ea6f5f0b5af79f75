import type { Sql } from "../../src/database/postgres/driver.ts";

/**
 * Reads what a statement for a database can change besides its rows: relations, columns, constraints,
 * indexes, functions, triggers, policies, schemas and the rights on all of them. One line for each, to
 * be compared.
 */
export async function describeDatabase(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    select line from (
      select concat_ws(' ', 'schema', nspname, nspowner::regrole, nspacl) as line
      from pg_namespace where nspname !~ '^pg_'
      union all
      select concat_ws(' ', 'relation', oid::regclass, relkind, relowner::regrole, relacl,
        reloptions, relrowsecurity, relforcerowsecurity, relreplident, obj_description(oid))
      from pg_class where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      union all
      select concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod),
        attnotnull, attgenerated, attidentity, attacl, pg_get_expr(adbin, adrelid))
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
        and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where attnum > 0 and not attisdropped
      union all
      select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid),
        obj_description(oid, 'pg_constraint'))
      from pg_constraint where connamespace::regnamespace::text !~ '^(pg_|information_schema)'
      union all
      select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid)
      from pg_index i join pg_class c on c.oid = i.indrelid
        and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      union all
      select concat_ws(' ', 'function', pg_get_functiondef(oid), proacl)
      from pg_proc
      where pronamespace::regnamespace::text !~ '^(pg_|information_schema)' and prokind = 'f'
      union all
      select concat_ws(' ', 'trigger', pg_get_triggerdef(oid), tgenabled)
      from pg_trigger where not tgisinternal
      union all
      select concat_ws(' ', 'policy', polrelid::regclass, polname, pg_get_expr(polqual, polrelid))
      from pg_policy
    ) described
    order by line collate "C"`;
  return rows.map(({ line }) => line);
}

/** Returns the lines that only one of two descriptions has, each with `-` or `+` before it. */
export function compareDescriptions(
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ];
}
