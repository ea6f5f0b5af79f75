import { printArray } from "../text/array_text.ts";
import { qualify, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { NAME_PATTERN } from "../errors/limits.ts";
import { askJson, type Check, count, type Diagnosis, type Setup } from "./diagnosis.ts";

/** A name that clients cannot use. */
interface UnusableName {
  readonly table: string;
  /** Null: the table's own name. */
  readonly column: string | null;
}

/** For clients, names with characters other than A-Z a-z 0-9 _ do not exist. @see N1, N2 */
export const checkNames: Check = { name: "names", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const found = (await readUnusable(setup)).filter((each) => !isNamed(setup, each));
  const findings = found.map(({ table, column }) => {
    const name = quoteIdentifier(column ?? table);
    const whole = column === null ? `table ${name}` : `column ${name} of ${table}`;
    const renamed = quoteIdentifier((column ?? table).replace(/[^A-Za-z0-9_]/g, "_"));
    const alter = `alter table ${quoteIdentifier(setup.config.schema)}.${quoteIdentifier(table)}`;
    const fix = column === null
      ? `${alter} rename to ${renamed};`
      : `${alter} rename column ${name} to ${renamed};`;
    const policy = describePolicy({ table, column }, renamed.slice(1, -1));
    return {
      id: `name:${whole}`,
      level: "warning" as const,
      what: `clients cannot use the ${whole}`,
      why: "its name has characters other than A-Z a-z 0-9 _, so it does not exist for clients",
      fix: `${fix}    -- or leave it hidden, or in the policy file: ${policy}`,
    };
  });
  return { seen: count(setup.catalogue.tables.size, "table"), findings };
}

/** The policy gives it a name. */
function isNamed({ catalogue, config }: Setup, { table, column }: UnusableName): boolean {
  const identifier = qualify(config.schema, table);
  const found = [...catalogue.tables.values()].find((each) => each.identifier === identifier);
  if (found === undefined || column === null) return found !== undefined;
  return [...found.columns.values()].some((each) => each.identifier === quoteIdentifier(column));
}

function describePolicy({ table, column }: UnusableName, name: string): string {
  const entry = column === null ? { name } : { columns: { [column]: { name } } };
  return JSON.stringify({ tables: { [table]: entry } });
}

function readUnusable({ database, config, catalogue }: Setup): Promise<readonly UnusableName[]> {
  const exposed = printArray([...catalogue.tables.keys()]);
  const pattern = NAME_PATTERN.source;
  return askJson(database, (sql) =>
    sql`with tables as (
        select c.oid, c.relname, c.relkind from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = ${config.schema}::text
        where not c.relispartition
      )
      select coalesce(pg_catalog.json_agg(found order by found."table", found."column"), '[]')::text
        as found
      from (
        select t.relname::text as "table", null::text as "column" from tables t
        where t.relkind in ('r', 'p') and t.relname::text !~ ${pattern}::text
          and exists (select from pg_catalog.pg_attribute a where a.attrelid = t.oid
            and a.attname = ${config.tenantColumn}::text and not a.attisdropped)
        union all
        select t.relname::text, a.attname::text from tables t
        join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
        where t.relname = any (${exposed}::text::text[]) and a.attname::text !~ ${pattern}::text
      ) found`);
}
