import type { Column } from "../catalogue/catalogue.ts";
import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Finding,
  findStoredColumn,
  listTenantTables,
  type Setup,
  type TenantTable,
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
  const tables = listTenantTables(setup);
  const large = await readLarge(setup, tables);
  const findings = large.flatMap((found) =>
    describe(tables.find(({ name }) => name === found.table)!, found)
  );
  return { seen: `${count(large.length, "large table")}`, findings };
}

function describe(table: TenantTable, { rows, partitioned, indexed }: Large): Finding[] {
  const known = new Set(indexed.map((name) => findStoredColumn(table, name)));
  const columns = [...table.columns.values()].filter((column) =>
    !known.has(column) && column.readOnly !== "tenant" && operatorsOf(column) !== undefined
  );
  if (columns.length === 0) return [];
  const concurrently = partitioned ? "" : "concurrently ";
  const create = `create index ${concurrently}on ${table.identifier}`;
  const tenants = table.tenancy.columns.map(({ identifier }) => identifier).join(", ");
  const print = (column: Column): readonly string[] => {
    const { identifier, name } = column;
    if (column.container === undefined) {
      return [
        `${create} (${tenants}, ${identifier} text_pattern_ops);    -- starts_with on ${name}`,
        `-- ilike and like "%…%" on ${name}, with the extension pg_trgm: ` +
        `${create} using gin (${identifier} gin_trgm_ops);`,
      ];
    }
    const method = column.container.endsWith("range") ? "gist" : "gin";
    return [`${create} using ${method} (${identifier});    -- contains on ${name}`];
  };
  return [{
    id: `search_index:${table.name}`,
    level: "warning",
    what: `no index of ${table.name} serves ${
      [...new Set(columns.map(operatorsOf))].join(" or ")
    } on ${columns.map(({ name }) => name).join(", ")}`,
    why: `such a request reads all rows of the tenant, about ${rows.toLocaleString("en")}`,
    fix: ["-- for the columns that clients search:", ...columns.flatMap(print)].join("\n"),
  }];
}

/** The operators for which the column can have an index. */
function operatorsOf({ baseType, kind, container, deterministic }: Column): string | undefined {
  if (container !== undefined) return container === "multirange" ? undefined : "contains";
  const isText = kind === "text" && (baseType === "text" || baseType === "varchar");
  return isText && deterministic ? "starts_with and ilike" : undefined;
}

function readLarge(
  { database }: Setup,
  tables: readonly TenantTable[],
): Promise<readonly Large[]> {
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'table', wanted.name, 'partitioned', c.relkind = 'p', 'rows', each.rows::int8,
        'indexed', (select coalesce(pg_catalog.json_agg(distinct a.attname), '[]')
          from pg_catalog.pg_index i
          join pg_catalog.pg_class x on x.oid = i.indexrelid
          join pg_catalog.pg_am m on m.oid = x.relam
          cross join lateral unnest(i.indkey::int2[], i.indclass::pg_catalog.oid[]) k (number, class)
          join pg_catalog.pg_opclass o on o.oid = k.class
          join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
          where i.indrelid = c.oid and i.indisvalid
            and (m.amname in ('gin', 'gist', 'spgist') or o.opcname ~ 'pattern_ops$')))
        order by wanted.name), '[]')::text as found
      from ${compileTables(sql, tables)}
      join pg_catalog.pg_class c on c.oid = wanted.oid and c.relkind in ('r', 'p', 'm')
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      cross join lateral (
        select c.reltuples / greatest(1, max(case when s.n_distinct < 0
          then -s.n_distinct * c.reltuples else s.n_distinct end)) as rows
        from pg_catalog.pg_stats s
        where s.schemaname = n.nspname and s.tablename = c.relname
          and s.attname in (select t.name from
            pg_catalog.json_array_elements_text(wanted.tenants) t (name))
      ) each
      where each.rows >= ${String(MANY_ROWS)}::text::float8`,
  );
}
