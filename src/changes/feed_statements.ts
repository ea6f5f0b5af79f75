import type { Column, SqlText, Table } from "../catalogue/catalogue.ts";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";

/** What the triggers of a feed need to know of its table. */
export interface FeedTable extends Pick<Table, "name" | "identifier"> {
  readonly tenant: Pick<Column, "name" | "identifier"> | undefined;
  readonly primaryKey: readonly Pick<Column, "name" | "identifier" | "padded" | "baseType">[];
}

/** A table of the operator that gets a feed. */
export interface FeedTarget {
  readonly schema: string;
  readonly table: FeedTable;
  readonly partitioned: boolean;
  /** Partitions below the table, quoted and qualified, those with rows of their own and the others. */
  readonly partitions: readonly { readonly identifier: SqlText; readonly stored: boolean }[];
  /** Feeds that the table has already, which the new one replaces. */
  readonly replaced: readonly number[];
}

/** The types that a key may have: their text says the same in every session, and equality is identity. */
const KEY_TYPES: ReadonlySet<string> = new Set(
  ("bool int2 int4 int8 oid numeric text varchar bpchar name uuid bytea date timestamp timestamptz " +
    "time").split(" "),
);
/** Settings that the texts of some types depend on. */
const SETTINGS_OF_TYPES: ReadonlyMap<string, string> = new Map([
  ["date", "set datestyle = 'ISO, YMD'"],
  ["timestamp", "set datestyle = 'ISO, YMD'"],
  ["timestamptz", "set datestyle = 'ISO, YMD' set timezone = 'UTC'"],
  ["bytea", "set bytea_output = 'hex'"],
]);

/** Keys that one entry of the log holds at most. */
export const KEYS_OF_ENTRY = 1000;
/** Rows of a table up to which a TRUNCATE is logged; beyond, its clients begin again. */
const MAX_TRUNCATED_ROWS = 100_000;

/** Says why a table cannot have a feed; undefined when it can. @see CH2 */
export function explainNoFeed(
  { primaryKey, keyUnique, tenant, tenancy }: Table,
): string | undefined {
  if (tenancy !== undefined && tenant === undefined) {
    return `the tenant of its rows is that of ${
      tenancy.via[0]!.table
    }, and a row that is deleted no ` +
      "longer says which one it belonged to";
  }
  // It would end the quotes of the functions.
  if (tenant?.name.includes("$")) return `its tenant column ${tenant.name} has a $ in its name`;
  if (primaryKey.length === 0) return "it has no primary key that clients can see";
  if (!keyUnique) {
    return "its key does not identify a row: it has child tables, or a part of its key is hidden";
  }
  const column = primaryKey.find((each) => !isKeyType(each));
  if (column === undefined) return undefined;
  return `its key has the column ${column.name} of type ${column.type}, whose text is not its identity`;
}

function isKeyType({ kind, baseType, deterministic }: Column): boolean {
  return deterministic && (kind === "enum" || kind !== "array" && KEY_TYPES.has(baseType));
}

/**
 * Gives the statements that enable the feed of a table, in order, for one transaction. They can be
 * printed and run by hand.
 * @see docs/decisions/0056-changes-feed.md
 */
export function planEnable(target: FeedTarget, feed: number): readonly string[] {
  const { schema, table, partitions, partitioned } = target;
  const names = table.primaryKey.map(({ name }) => quoteText(name)).join(", ");
  const tenant = table.tenant === undefined ? "null" : quoteText(table.tenant.name);
  return [
    // It waits for transactions that have written, so that none is older than the triggers.
    `lock table ${table.identifier} in share row exclusive mode`,
    ...target.replaced.flatMap(planDrop),
    `insert into rowgate.feeds (id, schema_name, table_name, tenant_column, key_columns)
values (${feed}, ${quoteText(schema)}, ${quoteText(table.name)}, ${tenant}, array[${names}])`,
    describeStatementFunction(target, feed),
    describeTruncateFunction(target, feed),
    `revoke all on function rowgate.changes_${feed}(), rowgate.changes_${feed}_truncate() from public`,
    ...planTriggers(table.identifier, feed, { stored: !partitioned }),
    ...(partitioned ? planRowTrigger(target, feed) : []),
    ...partitions.flatMap(({ identifier, stored }) => [
      ...planTriggers(identifier, feed, { stored }),
      ...(stored ? [`alter table ${identifier} disable trigger rowgate_changes_rows`] : []),
    ]),
    NOTIFY,
  ];
}

/** Gives the statements that disable feeds, in order, for one transaction. */
export function planDisable(feeds: readonly number[]): readonly string[] {
  return [...feeds.flatMap(planDrop), NOTIFY];
}

/** Servers read their catalogue again. */
const NOTIFY = "select pg_catalog.pg_notify('rowgate_catalogue', '')";

function planDrop(feed: number): readonly string[] {
  return [
    ...["", "_truncate", "_row"].map((suffix) =>
      `drop function if exists rowgate.changes_${feed}${suffix}() cascade`
    ),
    `delete from rowgate.feeds where id = ${feed}`,
  ];
}

function planTriggers(
  table: SqlText,
  feed: number,
  { stored }: { readonly stored: boolean },
): readonly string[] {
  const events = [
    ["insert", "after insert", 'referencing new table as "$new"', ""],
    ["update", "after update", 'referencing old table as "$old" new table as "$new"', ""],
    ["delete", "after delete", 'referencing old table as "$old"', ""],
    ...(stored ? [["truncate", "before truncate", "", "_truncate"]] : []),
  ];
  return events.flatMap(([event, when, tables, suffix]) => [
    `create trigger rowgate_changes_${event} ${when} on ${table} ${tables}
  for each statement execute function rowgate.changes_${feed}${suffix}()`,
    `alter table ${table} enable always trigger rowgate_changes_${event}`,
  ]);
}

/**
 * Partitions that are added later get a copy of this trigger, and of no trigger for statements. Those
 * that are there have theirs disabled, since triggers for statements cost less.
 */
function planRowTrigger({ table }: FeedTarget, feed: number): readonly string[] {
  const { key, tenant } = describeParts(table);
  const entry = (row: "new" | "old") =>
    `insert into rowgate.changes (feed, tenant, amount, keys)
    select ${feed}, ${tenant(row)}, 1, array[${key(row)}] where ${tenant(row)} is not null;`;
  return [
    `create function rowgate.changes_${feed}_row() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  ${KEEP_DURABLE}
  if tg_op <> 'INSERT' then
    ${entry("old")}
  end if;
  if tg_op <> 'DELETE' then
    ${entry("new")}
  end if;
  return null;
end $rowgate$`,
    `revoke all on function rowgate.changes_${feed}_row() from public`,
    `create trigger rowgate_changes_rows after insert or update or delete on ${table.identifier}
  for each row execute function rowgate.changes_${feed}_row()`,
    `alter table ${table.identifier} enable always trigger rowgate_changes_rows`,
  ];
}

/**
 * What a client has seen must outlast a crash, which may otherwise also give the number of the
 * transaction to another one.
 */
const KEEP_DURABLE = `if pg_catalog.current_setting('synchronous_commit') = 'off' then
    perform pg_catalog.set_config('synchronous_commit', 'local', true);
  end if;`;

/** Few rows are logged by the shortest statement; many in entries of a thousand keys of a tenant. */
function describeStatementFunction({ table }: FeedTarget, feed: number): string {
  const { key, tenant } = describeParts(table);
  const read = (rows: "new" | "old") =>
    `select ${tenant("r")} as tenant, ${key("r")} as key from "$${rows}" r`;
  const columns = [
    ...table.tenant === undefined ? [] : [table.tenant.identifier],
    ...table.primaryKey.map(({ identifier }) => identifier),
  ].join(", ");
  // Compared by type, which is cheaper than by text; a key that is kept needs no second entry.
  const moved = `select ${tenant("r")}, ${key("r")}
      from (select ${columns} from "$old" except select ${columns} from "$new") r`;
  const few = (rows: string) =>
    `insert into rowgate.changes (feed, tenant, amount, keys)
    select ${feed}, k.tenant, count(*), array_agg(k.key) from (${rows}) k
    where k.tenant is not null group by k.tenant;`;
  const many = (rows: string) =>
    `insert into rowgate.changes (feed, tenant, amount, keys)
    select ${feed}, k.tenant, count(*), array_agg(k.key) from (
      select k.tenant, k.key,
        (row_number() over (partition by k.tenant collate "C") - 1) / ${KEYS_OF_ENTRY} as part
      from (${rows}) k where k.tenant is not null) k
    group by k.tenant, k.part;`;
  const either = (rows: "new" | "old", [a, b]: readonly [string, string]) =>
    `if exists (select from "$${rows}" offset 500) then
      ${many(a)}
    else
      ${few(b)}
    end if;`;
  const both: readonly [string, string] = [
    `${read("new")} union all ${moved}`,
    `${read("new")} union ${read("old")}`,
  ];
  return `create function rowgate.changes_${feed}() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  ${KEEP_DURABLE}
  if tg_op = 'INSERT' then
    ${either("new", [read("new"), read("new")])}
  elsif tg_op = 'UPDATE' then
    ${either("new", both)}
  else
    ${either("old", [read("old"), read("old")])}
  end if;
  return null;
end $rowgate$`;
}

/**
 * A snapshot that is older than the statement does not see every row that a TRUNCATE removes, and a
 * very large table would be logged for long: then the feed gets another generation, and its clients
 * begin again.
 */
function describeTruncateFunction({ table }: FeedTarget, feed: number): string {
  const { key, tenant } = describeParts(table);
  const escape = (text: string) => text.replaceAll("%", "%%");
  return `create function rowgate.changes_${feed}_truncate() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
declare
  relation text := tg_relid::pg_catalog.regclass::text;
  large bool;
begin
  ${KEEP_DURABLE}
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted')
    or row_security_active(tg_relid)
  then
    large := true;
  else
    execute pg_catalog.format('select exists (select from only %s offset ${MAX_TRUNCATED_ROWS})', relation)
      into large;
  end if;
  if large then
    update rowgate.feeds set generation = gen_random_uuid() where id = ${feed};
  else
    execute pg_catalog.format($keys$insert into rowgate.changes (feed, tenant, amount, keys)
      select ${feed}, k.tenant, count(*), array_agg(k.key) from (
        select k.tenant, k.key,
          (row_number() over (partition by k.tenant collate "C") - 1) / ${KEYS_OF_ENTRY} as part
        from (select ${escape(tenant("r"))} as tenant, ${key("r")} as key from only %s r) k
        where k.tenant is not null) k
      group by k.tenant, k.part$keys$, relation);
  end if;
  return null;
end $rowgate$`;
}

/** The texts of a row's tenant and key: of a key with several columns, a JSON array of their texts. */
function describeParts({ tenant, primaryKey }: FeedTable) {
  // Cast to text, char(n) would lose its padding.
  const text = (row: string, { identifier, padded }: Pick<Column, "identifier" | "padded">) =>
    padded ? `pg_catalog.concat(${row}.${identifier})` : `${row}.${identifier}::text`;
  const [first, ...others] = primaryKey;
  return {
    tenant: (row: string) =>
      tenant === undefined ? "''::text" : `${row}.${tenant.identifier}::text`,
    key: (row: string) =>
      others.length === 0
        ? text(row, first!)
        : `pg_catalog.json_build_array(${
          primaryKey.map((column) => text(row, column)).join(", ")
        })::text`,
  };
}

function describeSettings({ primaryKey }: FeedTable): string {
  const settings = primaryKey.flatMap(({ baseType }) => SETTINGS_OF_TYPES.get(baseType) ?? []);
  return ["set search_path = pg_catalog, pg_temp", ...new Set(settings)].join(" ");
}

function quoteText(text: string): string {
  // With a backslash, a text is read alike whatever standard_conforming_strings says.
  const quoted = text.replaceAll("'", "''");
  return quoted.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

/** Gives a number for a new feed: random, so that the statements can be printed. */
export function drawFeedId(): number {
  return 1 + crypto.getRandomValues(new Uint32Array(1))[0]! % 2_147_483_646;
}

/** Gives the quoted name of a partition. */
export function qualifyPartition(schema: string, name: string): SqlText {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` as SqlText;
}
