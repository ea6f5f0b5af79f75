import type { Column, Table } from "../../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { quoteText } from "../../basics/text/quote_text.ts";

/** The part of a table that the triggers of its feed depend on. */
export interface FeedTable extends Pick<Table, "identifier"> {
  /** As the database has them. */
  readonly stored: Pick<Table["stored"], "schema" | "name">;
  readonly tenant: Pick<Column, "identifier"> | undefined;
  readonly primaryKey: readonly Pick<Column, "identifier" | "padded" | "baseType">[];
  /** The columns that decide which rows clients see; empty: they see all. */
  readonly images: readonly Pick<Column, "identifier" | "kind">[];
}

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

/** Compiles the function that logs each changed row by itself: see `planRowTrigger`. */
export function describeRowFunction(table: FeedTable, feed: number): string {
  return `create function rowgate.changes_${feed}_row() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  if tg_op <> 'INSERT' then
    ${logRow(table, feed, "old")}
  end if;
  if tg_op <> 'DELETE' then
    ${logRow(table, feed, "new")}
  end if;
  return null;
end $rowgate$`;
}

/**
 * An UPDATE that changes the key or the tenant of a row logs the old ones by a row trigger, whose
 * condition Postgres checks by itself: other updates do not pay for it. Not in a partitioned table,
 * where a row that moves to another partition fires no update trigger: there the statement trigger
 * compares.
 */
export function describeMovedFunction(table: FeedTable, feed: number): string {
  return `create function rowgate.changes_${feed}_moved() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  ${logRow(table, feed, "old")}
  return null;
end $rowgate$`;
}

/** Compiles the statement that logs the row of a row trigger. */
function logRow(table: FeedTable, feed: number, row: "new" | "old"): string {
  const { key, tenant } = describeParts(table);
  const hasImage = row === "old" && table.images.length > 0;
  const image = hasImage ? `, array[${describeImage(table, row)}]` : "";
  return `insert into rowgate.changes (feed, tenant, amount, keys${hasImage ? ", images" : ""})
    select ${feed}, ${tenant(row)}, 1, array[${key(row)}]${image} where ${
    tenant(row)
  } is not null;`;
}

/**
 * Compiles the former values of a row, from which the reader finds out whether clients saw it. Texts are
 * read by the input function of the type, except JSON, which stays as it is.
 */
function describeImage({ images }: FeedTable, row: string): string {
  const members = images.map(({ identifier, kind }) =>
    `${quoteText(unquoteIdentifier(identifier))}, ${row}.${identifier}${
      kind === "json" ? "" : "::text"
    }`
  );
  return `pg_catalog.json_build_object(${members.join(", ")})`;
}

/**
 * Compiles the function of a table of which clients see only some rows: each changed row is logged with
 * an image of what it was.
 */
function describeImagedFunction(table: FeedTable, feed: number): string {
  const { key, tenant } = describeParts(table);
  const text = (row: string) =>
    `${tenant(row)} collate "C" as tenant, ${key(row)} collate "C" as key`;
  const old = `select ${text("r")}, ${describeImage(table, "r")} as image from "$old" r`;
  const made = `select m.tenant, m.key, null::json as image from (select ${
    text("r")
  } from "$new" r`;
  return `create function rowgate.changes_${feed}() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  if tg_op = 'INSERT' then
    ${logParts(feed, `${made}) m`)};
  elsif tg_op = 'UPDATE' then
    ${logParts(feed, `${old} union all ${made} except select ${text("r")} from "$old" r) m`)};
  else
    ${logParts(feed, old)};
  end if;
  return null;
end $rowgate$`;
}

/** Compiles the statement that logs rows with images, in entries of a thousand keys of a tenant. */
function logParts(feed: number, rows: string): string {
  return `insert into rowgate.changes (feed, tenant, amount, keys, images)
      select ${feed}, k.tenant, count(*), array_agg(k.key), array_agg(k.image) from (
        select k.tenant, k.key, k.image,
          (row_number() over (partition by k.tenant collate "C") - 1) / ${KEYS_OF_ENTRY} as part
        from (${rows}) k where k.tenant is not null) k
      group by k.tenant, k.part`;
}

/** The condition of the trigger for `describeMovedFunction`. Its names are resolved once, by the search path of the role that creates it. */
export function describeMoved({ tenant, primaryKey }: FeedTable): string {
  const differs = (column: string, type: string) =>
    `old.${column}${type} operator(pg_catalog.<>) new.${column}${type}`;
  // A key is compared as in `describeOld`; only a tenant may be null.
  const ofKey = primaryKey.map(({ identifier, baseType }) =>
    differs(identifier, baseType === "numeric" ? "::pg_catalog.text" : "")
  );
  if (tenant === undefined) return ofKey.join(" or ");
  const { identifier } = tenant;
  const ofTenant = [
    differs(identifier, '::pg_catalog.text collate pg_catalog."C"'),
    `(old.${identifier} is null) operator(pg_catalog.<>) (new.${identifier} is null)`,
  ];
  return [...ofKey, ...ofTenant].join(" or ");
}

/**
 * One row, the usual case, is logged by one statement, which also finds out that it is the only one; few
 * rows in one statement; many in entries of a thousand keys of a tenant.
 */
export function describeStatementFunction(
  table: FeedTable,
  feed: number,
  { partitioned }: { readonly partitioned: boolean },
): string {
  if (table.images.length > 0) return describeImagedFunction(table, feed);
  const { key, tenant } = describeParts(table);
  const read = (rows: "new" | "old") =>
    `select ${tenant("r")} as tenant, ${key("r")} as key from "$${rows}" r`;
  const one = (row: "new" | "old") =>
    `insert into rowgate.changes (feed, tenant, amount, keys)
      select ${feed}, ${tenant("r")}, 1, array[${key("r")}] from "$${row}" r
      where ${tenant("r")} is not null and not exists (select from "$${row}" offset 1);`;
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
  const log = (rows: "new" | "old", { ofOne, ofMany, ofFew }: Record<string, string>) =>
    `${one(rows)}
    if found then
      ${ofOne}
    elsif exists (select from "$${rows}" offset 500) then
      ${ofMany}
    else
      ${ofFew}
    end if;`;
  const same = (rows: "new" | "old") =>
    log(rows, { ofOne: "return null;", ofMany: many(read(rows)), ofFew: few(read(rows)) });
  const updated = () => {
    const { anyMoved, movedOne, moved } = describeOld(table);
    return log("new", {
      ofOne: `if ${movedOne} then
        ${one("old")}
      end if;`,
      ofMany: `if ${anyMoved} then
        ${many(`${read("new")} union all ${moved}`)}
      else
        ${many(read("new"))}
      end if;`,
      ofFew: few(`${read("new")} union ${read("old")}`),
    });
  };
  return `create function rowgate.changes_${feed}() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
begin
  if tg_op = 'INSERT' then
    ${same("new")}
  elsif tg_op = 'UPDATE' then
    ${partitioned ? updated() : same("new")}
  else
    ${same("old")}
  end if;
  return null;
end $rowgate$`;
}

/**
 * Compiles how an UPDATE of a partitioned table finds the keys and tenants that its rows no longer
 * have.
 */
function describeOld(table: FeedTable) {
  const { key, tenant } = describeParts(table);
  // Tenants may be equal and not the same, as those of type citext, and so may numbers: 1.0 and 1.00. Other
  // keys are compared by type, which costs less than by text. The tenant may be a part of the key.
  const ofTenant = (row: "o" | "n" | "r") => `${tenant(row)} collate "C"`;
  const ofKey = (row: "o" | "n" | "r") =>
    table.primaryKey.map(({ identifier, baseType }) =>
      `${row}.${identifier}${baseType === "numeric" ? "::text" : ""}`
    );
  const parts = (rows: "new" | "old") =>
    `select ${ofTenant("r")} as "$tenant", ${
      ofKey("r").map((column, place) => `${column} as ${table.primaryKey[place]!.identifier}`)
        .join(", ")
    } from "$${rows}" r`;
  // In the usual case none has moved, which a join finds out in half the time of the EXCEPT. With
  // EXISTS, Postgres would choose a plan with an early first row: a nested loop, over all rows.
  const equal = [
    `${ofTenant("o")} = ${ofTenant("n")}`,
    ...ofKey("o").map((column, place) => `${column} = ${ofKey("n")[place]}`),
  ].join(" and ");
  const text = (row: string) => `(${tenant(row)} collate "C", ${key(row)} collate "C")`;
  return {
    movedOne: `exists (select from "$old" o, "$new" n where ${text("o")} is distinct from ${
      text("n")
    })`,
    anyMoved: `(select count(*) from "$old" o where ${tenant("o")} is not null
      and not exists (select from "$new" n where ${equal})) > 0`,
    // An unchanged key needs no second entry.
    moved: `select r."$tenant", ${key("r")} from (${parts("old")} except ${parts("new")}) r`,
  };
}

/**
 * A snapshot that is older than the statement does not see every row that a TRUNCATE removes, and a
 * very large table would be logged for long: then the feed gets another generation, and its clients
 * begin again.
 */
export function describeTruncateFunction(table: FeedTable, feed: number): string {
  const { key, tenant } = describeParts(table);
  const image = table.images.length > 0 ? describeImage(table, "r") : "null::json";
  const rows = `select ${tenant("r")} as tenant, ${key("r")} as key, ${image} as image from only`;
  const logged = logParts(feed, `${rows.replaceAll("%", "%%")} %s r`);
  return `create function rowgate.changes_${feed}_truncate() returns trigger
language plpgsql security definer ${describeSettings(table)} as $rowgate$
declare
  relation text := tg_relid::pg_catalog.regclass::text;
  large bool;
begin
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
    execute pg_catalog.format($keys$${logged}$keys$, relation);
  end if;
  return null;
end $rowgate$`;
}

/**
 * Compiles the texts of a row's tenant and key; a key with several columns is a JSON array of their
 * texts.
 */
function describeParts({ tenant, primaryKey }: FeedTable) {
  // A cast to text would drop the padding of char(n).
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
