import { printArray } from "../text/array_text.ts";
import { qualify, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { NAME_PATTERN } from "../errors/limits.ts";
import { callTable } from "../catalogue/table_names.ts";
import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  findStoredColumn,
  remark,
  type Setup,
} from "./diagnosis.ts";

/** A name that clients cannot use. */
interface UnusableName {
  readonly schema: string;
  readonly table: string;
  /** Null: the table's own name. */
  readonly column: string | null;
}

/** For clients, names with characters other than A-Z a-z 0-9 _ do not exist. @see N1, N2 */
export const checkNames: Check = { name: "names", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const { schemas } = setup.config;
  const found = (await readUnusable(setup)).filter((each) => !isNamed(setup, each));
  const findings = found.map(({ schema, table, column }) => {
    const name = quoteIdentifier(column ?? table);
    const called = callTable({ schema, name: table }, schemas);
    const whole = column === null
      ? `table ${quoteIdentifier(called)}`
      : `column ${name} of ${called}`;
    const renamed = quoteIdentifier((column ?? table).replace(/[^A-Za-z0-9_]/g, "_"));
    const rename = `alter table ${qualify(schema, table)} rename ${
      column === null ? "" : `column ${name} `
    }to ${renamed};`;
    const key = called === table ? table : `${schema}.${table}`;
    const suggested = (column ?? called).replace(/[^A-Za-z0-9_]/g, "_");
    const policy = describePolicy({ key, column }, suggested);
    return {
      id: `name:${whole}`,
      level: "warning" as const,
      what: `clients cannot use the ${whole}`,
      why: "its name has characters other than A-Z a-z 0-9 _, so it does not exist for clients",
      fix: [
        `in the policy file: ${policy}    -- or leave it hidden`,
        // It may be the schema's name that is at fault.
        ...renamed === name ? [] : [remark(`or, if no application uses the name: ${rename}`)],
      ].join("\n"),
    };
  });
  return { seen: count(setup.catalogue.tables.size, "table"), findings };
}

/** The policy gives it a name. */
function isNamed({ catalogue }: Setup, { schema, table, column }: UnusableName): boolean {
  const identifier = qualify(schema, table);
  const found = [...catalogue.tables.values()].find((each) => each.identifier === identifier);
  if (found === undefined || column === null) return found !== undefined;
  return findStoredColumn(found, column) !== undefined;
}

function describePolicy(
  { key, column }: { readonly key: string; readonly column: string | null },
  name: string,
): string {
  const entry = column === null ? { name } : { columns: { [column]: { name } } };
  return JSON.stringify({ tables: { [key]: entry } });
}

function readUnusable({ database, config, catalogue }: Setup): Promise<readonly UnusableName[]> {
  const pattern = NAME_PATTERN.source;
  return askJson(database, (sql) =>
    sql`with tables as (
        select c.oid, s.name as nspname, c.relname, c.relkind, case s.place
          when 1 then c.relname::text
          else pg_catalog.concat(n.nspname, '_', c.relname) end as called
        from unnest(${printArray(config.schemas)}::text::text[]) with ordinality s (name, place)
        join pg_catalog.pg_namespace n on n.nspname = s.name
        join pg_catalog.pg_class c on c.relnamespace = n.oid and not c.relispartition
      )
      select coalesce(pg_catalog.json_agg(
          found order by found."schema", found."table", found."column"), '[]')::text
        as found
      from (
        select t.nspname as "schema", t.relname::text as "table", null::text as "column"
        from tables t
        where t.relkind in ('r', 'p') and t.called !~ ${pattern}::text
          and exists (select from pg_catalog.pg_attribute a where a.attrelid = t.oid
            and a.attname = ${config.tenantColumn}::text and not a.attisdropped)
        union all
        select t.nspname, t.relname::text, a.attname::text from tables t
        join ${compileTables(sql, [...catalogue.tables.values()])} on wanted.oid = t.oid
        join pg_catalog.pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
        where a.attname::text !~ ${pattern}::text
      ) found`);
}
