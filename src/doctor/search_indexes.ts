import type { Column, Table } from "../catalogue/catalogue.ts";
import { hasOperator } from "../catalogue/operators.ts";
import {
  askJson,
  type Check,
  count,
  type Diagnosis,
  type Finding,
  findStoredColumn,
  remark,
  type Setup,
} from "./diagnosis.ts";

/** Rows of a tenant on average, from which on to read all of them for a search takes seconds. */
const MANY_ROWS = 100_000;

/** A table with many rows for each tenant. */
interface Large {
  readonly table: string;
  readonly partitioned: boolean;
  /** The planner's estimate of the rows of a tenant. */
  readonly rows: number;
  /** Columns that an index for searches has. */
  readonly indexed: readonly string[];
}

/** `starts_with`, `ilike` and `contains` read all rows of the tenant without an index of their own. */
export const checkSearchIndexes: Check = { name: "indexes for searches", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const large = await readLarge(setup);
  const findings = large.flatMap((found) =>
    describe(setup.catalogue.tables.get(found.table)!, found)
  );
  return { seen: count(large.length, "large table"), findings };
}

function describe(table: Table, { rows, partitioned, indexed }: Large): Finding[] {
  const known = new Set(indexed.map((name) => findStoredColumn(table, name)));
  const columns = [...table.columns.values()].filter((column) =>
    !known.has(column) && column.readOnly !== "tenant" && describeOperators(column) !== undefined
  );
  if (columns.length === 0) return [];
  const create = `create index ${partitioned ? "" : "concurrently "}on ${table.identifier}`;
  return [{
    id: `search_index:${table.name}`,
    level: "warning",
    what: `no index of ${table.name} serves ${
      [...new Set(columns.map(describeOperators))].join(" or ")
    } on ${columns.map(({ name }) => name).join(", ")}`,
    why: `such a request reads all rows${
      table.tenancy === undefined ? "" : " of the tenant"
    }, about ${rows.toLocaleString("en")}`,
    fix: [
      "-- for the columns that clients search:",
      ...columns.flatMap((column) => printIndexes(column, { table, create })),
    ].join("\n"),
  }];
}

/** The indexes are over the expressions that the statements of the operators have. @see Q110 */
function printIndexes(
  column: Column,
  { table: { tenancy }, create }: { readonly table: Table; readonly create: string },
): readonly string[] {
  const { name, identifier, container, deterministic } = column;
  if (container !== undefined) {
    const method = container.endsWith("range") ? "gist" : "gin";
    return [`${create} using ${method} (${identifier});    -- contains on ${name}`];
  }
  const tenants = tenancy?.via.length === 0 ? tenancy.columns : [];
  const text = printText(column);
  const keys = [
    ...tenants.map((tenant) => tenant.identifier),
    `${text} pg_catalog.text_pattern_ops`,
  ];
  return [
    `${create} (${keys.join(", ")});    -- starts_with on ${name}`,
    remark(
      `${deterministic ? "ilike and " : ""}like "%…%" on ${name}, with the extension pg_trgm: ` +
        `${create} using gin (${text} gin_trgm_ops);`,
    ),
  ];
}

function printText({ identifier, baseType, deterministic }: Column): string {
  if (!deterministic) return `(${identifier}::pg_catalog.text collate pg_catalog."C")`;
  return CONVERTED.has(baseType) ? `(${identifier}::pg_catalog.text)` : identifier;
}

/** Types that are text as they are stored, and those that a function makes one. */
const STORED_AS_TEXT: ReadonlySet<string> = new Set(["text", "varchar", "citext"]);
const CONVERTED: ReadonlySet<string> = new Set(["bpchar", "name", "char"]);

/** The operators for which the column can have an index. */
function describeOperators(column: Column): string | undefined {
  const { baseType, kind, container, deterministic } = column;
  if (container !== undefined) return hasOperator(column, "contains") ? "contains" : undefined;
  const isText = kind === "text" && (STORED_AS_TEXT.has(baseType) || CONVERTED.has(baseType));
  return !isText ? undefined : deterministic ? "starts_with and ilike" : "starts_with";
}

/** Tables and the columns that name their tenants, which may be those of another table. */
function listEnds({ catalogue }: Setup) {
  return [...catalogue.tables.values()].map(({ name, identifier, tenancy }) => ({
    ...{ name, identifier },
    end: tenancy?.via.at(-1)?.identifier ?? identifier,
    tenants: tenancy?.columns.map((column) => column.name) ?? [],
  }));
}

function readLarge(setup: Setup): Promise<readonly Large[]> {
  return askJson(
    setup.database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'table', w.name, 'partitioned', c.relkind = 'p', 'rows', each.rows::int8,
        'indexed', (select coalesce(pg_catalog.json_agg(distinct a.attname), '[]')
          from pg_catalog.pg_index i
          join pg_catalog.pg_class x on x.oid = i.indexrelid
          join pg_catalog.pg_am m on m.oid = x.relam
          cross join lateral unnest(i.indkey::int2[], i.indclass::pg_catalog.oid[]) k (number, class)
          join pg_catalog.pg_opclass o on o.oid = k.class
          join pg_catalog.pg_attribute a on a.attrelid = c.oid and (a.attnum = k.number
            or k.number = 0 and a.attnum <> all (i.indkey::int2[]) and exists (
              select from pg_catalog.pg_depend d
              where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
                and d.objid = i.indexrelid and d.refobjid = c.oid and d.refobjsubid = a.attnum))
          where i.indrelid = c.oid and i.indisvalid
            and (m.amname in ('gin', 'gist', 'spgist') or o.opcname ~ 'pattern_ops$')))
        order by w.name), '[]')::text as found
      from pg_catalog.json_to_recordset(${JSON.stringify(listEnds(setup))}::text::json)
        w (name text, identifier text, "end" text, tenants json)
      join pg_catalog.pg_class c on c.oid = pg_catalog.to_regclass(w.identifier)
        and c.relkind in ('r', 'p', 'm')
      join pg_catalog.pg_class e on e.oid = pg_catalog.to_regclass(w."end")
      join pg_catalog.pg_namespace n on n.oid = e.relnamespace
      cross join lateral (
        select c.reltuples / greatest(1, max(case when s.n_distinct < 0
          then -s.n_distinct * e.reltuples else s.n_distinct end)) as rows
        from pg_catalog.pg_stats s
        where s.schemaname = n.nspname and s.tablename = e.relname
          and s.attname in (select t.name from
            pg_catalog.json_array_elements_text(w.tenants) t (name))
      ) each
      where each.rows >= ${String(MANY_ROWS)}::text::float8`,
  );
}
