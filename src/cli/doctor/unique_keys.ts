import type { Table } from "../../catalogue/catalogue.ts";
import { qualifyTable, quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import {
  askJson,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Finding,
  findStoredColumn,
  listTenantTables,
  printPolicy,
  remark,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";

/** A unique index without the tenant columns. */
interface UniqueKey {
  readonly oid: number;
  /** The schema of the table and of the index. */
  readonly schema: string;
  readonly name: string;
  readonly table: string;
  /** In the order of the index. */
  readonly columns: readonly string[];
  /** It belongs to a constraint. */
  readonly constraint: boolean;
  /** The definition of a deferrable constraint, as Postgres prints it; null: it is not deferrable. */
  readonly deferrable: string | null;
  readonly partitioned: boolean;
  /** The definition of the index up to its columns, and the whole of it. */
  readonly head: string;
  readonly definition: string;
  /** What depends on this index: foreign keys, logical replication. */
  readonly users: readonly string[] | null;
}

/**
 * Around statements whose expressions Postgres has printed for an empty search path: no planted
 * function or operator is used in them.
 * @see TE25
 */
const PIN = "set search_path = pg_catalog, pg_temp;";
const UNPIN = "reset search_path;";

/** A key that is unique across all tenants reveals to each which values the others have. */
export const checkUniqueKeys: Check = { name: "unique keys", examine: examineUniqueKeys };

async function examineUniqueKeys(setup: Setup): Promise<Diagnosis> {
  const keys = await readUniqueKeys(setup);
  const findings = keys.filter((key) => isWritable(setup, key)).map((key) => ({
    id: `unique_key:${key.table}.${key.name}`,
    level: "warning" as const,
    what: `${
      key.columns.join(", ")
    } of ${key.table} must be unique across all tenants (${key.name})`,
    why:
      "an update to a value that another tenant has is answered with 409, which reveals that it" +
      " exists",
    fix: [
      `-- in the policy file: ${printReadOnly(key, setup)}`,
      ...describeIndex(key, setup),
    ].join("\n"),
  }));
  return { seen: `${count(keys.length, "key")} without a tenant`, findings };
}

/**
 * Finds keys that only a new record can name, such as the primary key. A row of any tenant stands in its
 * way, and in that of an upsert; and a client can take values before others do.
 * @see R72
 */
export async function findNewKeys(setup: Setup): Promise<readonly Finding[]> {
  const keys = (await readUniqueKeys(setup))
    .filter((key) => !isWritable(setup, key) && isCreatable(setup, key));
  return keys.map((key) => ({
    id: `new_key:${key.table}.${key.name}`,
    level: "warning",
    what: `a new record of ${key.table} can name ${
      key.columns.join(", ")
    }, unique across all tenants (${key.name})`,
    why:
      "a value that another tenant has is answered with 409, which reveals that it exists; one that a" +
      " client takes first is lost to the others",
    fix: [
      `-- in the policy file: ${printUnnamed(key, setup)}`,
      ...describeIndex(key, setup),
    ].join("\n"),
  }));
}

function isCreatable({ catalogue }: Setup, { table, columns }: UniqueKey): boolean {
  const found = catalogue.tables.get(table)!;
  return found.creatable && columns.some((name) => isNamed(found, name)) &&
    !namesOwnRow(found, columns);
}

/**
 * Reports whether a key has the columns of a reference to a row of the tenant, which is checked before the
 * new row is written: no other tenant has such values.
 */
function namesOwnRow({ tenancy, references }: Table, columns: readonly string[]): boolean {
  return [...(tenancy === undefined ? [] : [tenancy]), ...references].some(({ via: [first] }) =>
    first?.columns.every((column) => columns.includes(column))
  );
}

function isNamed(table: Table, name: string): boolean {
  const column = findStoredColumn(table, name);
  return column !== undefined && column.unset === undefined;
}

/** Read-only columns get their defaults; where a column has none, no record can be created. */
function printUnnamed({ table, columns }: UniqueKey, { catalogue }: Setup): string {
  const found = catalogue.tables.get(table)!;
  const isNeeded = columns.some((name) => findStoredColumn(found, name)?.required);
  return printPolicy(
    found,
    isNeeded
      ? { create: false }
      : { read_only_columns: columns.filter((name) => isNamed(found, name)) },
  );
}

/** The columns that an update could set; read-only, none of them reveals anything. */
function printReadOnly({ table, columns }: UniqueKey, { catalogue }: Setup): string {
  const found = catalogue.tables.get(table)!;
  return printPolicy(found, {
    read_only_columns: columns.filter((name) => isSettable(found, name)),
  });
}

function isSettable(table: Table, name: string): boolean {
  const column = findStoredColumn(table, name);
  return column !== undefined && column.readOnly === undefined;
}

/**
 * The new index is the old one with the tenant before its columns. The statement that drops the old
 * one is a comment, for a person to decide: an application may rely on it, in `on conflict` or at a
 * sign-in.
 */
function describeIndex(key: UniqueKey, { catalogue }: Setup): readonly string[] {
  const { identifier, tenancy } = catalogue.tables.get(key.table) as TenantTable;
  const { name, columns, constraint, partitioned, definition, head } = key;
  if (!definition.startsWith(head)) return [];
  const tenants = tenancy.columns.filter(({ name }) => !columns.includes(name))
    .map((column) => column.identifier).join(", ");
  const rest = `(${tenants}, ${definition.slice(head.length)}`;
  const made = quoteIdentifier(`${key.table.slice(0, 30)}_by_tenant_${key.oid}`);
  const concurrently = partitioned ? "" : "concurrently ";
  const create = key.deferrable === null
    ? `create unique index ${concurrently}if not exists ${made} on ${identifier} using btree ${rest};`
    : `alter table ${identifier} add constraint ${made} ${
      key.deferrable.replace("(", () => `(${tenants}, `)
    };`;
  const drop = !constraint
    ? `drop index ${concurrently}${qualifyTable(key.schema, name)};`
    : `alter table ${identifier} drop constraint ${quoteIdentifier(name)};`;
  const users = key.users === null ? "" : ` and after changing ${key.users.join(", ")}`;
  return [
    "-- or, if each tenant may have the same values:",
    ...constraint ? [create] : [PIN, create, UNPIN],
    remark(
      `then, if nothing needs ${columns.join(", ")} to be unique across all tenants${users}:`,
    ),
    remark(drop),
  ];
}

/** A value that no update can set cannot be tried out. */
function isWritable({ catalogue }: Setup, { table, columns }: UniqueKey): boolean {
  const found = catalogue.tables.get(table)!;
  return found.writable && columns.some((name) => isSettable(found, name));
}

function readUniqueKeys(setup: Setup): Promise<readonly UniqueKey[]> {
  return askJson(
    setup.database,
    (sql) =>
      sql`with "$path" as materialized (select pg_catalog.set_config('search_path', '', true) made)
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'oid', x.oid::int8, 'schema', n.nspname, 'name', x.relname, 'table', wanted.name,
        'columns', (select pg_catalog.json_agg(a.attname order by place)
          from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality key (number, place)
          join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = key.number),
        'constraint', k.oid is not null,
        'deferrable', case when k.condeferrable then pg_catalog.pg_get_constraintdef(k.oid) end,
        'partitioned', c.relkind = 'p',
        'head', pg_catalog.format('CREATE UNIQUE INDEX %I ON %s%I.%I USING btree (', x.relname,
          case when c.relkind = 'p' then 'ONLY ' end, n.nspname, c.relname),
        'definition', pg_catalog.pg_get_indexdef(x.oid),
        'users', (select pg_catalog.json_agg(user_name order by user_name) from (
          select f.conname::text from pg_catalog.pg_constraint f
          where f.conindid = x.oid and f.contype = 'f' and f.conparentid = 0
          union all
          select 'the replica identity' where i.indisreplident) users (user_name)))
        order by wanted.name, x.relname), '[]')::text as found
      from "$path" cross join ${compileTables(sql, listTenantTables(setup))}
      join pg_catalog.pg_class c on c.oid = wanted.oid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisunique and i.indexprs is null
        and exists (select from pg_catalog.json_array_elements_text(wanted.tenants) w (name)
          join pg_catalog.pg_attribute t on t.attrelid = c.oid and t.attname = w.name
          where t.attnum <> all ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
      join pg_catalog.pg_class x on x.oid = i.indexrelid
      left join pg_catalog.pg_constraint k on k.conindid = x.oid and k.conrelid = c.oid
        and k.contype in ('p', 'u')`,
  );
}
