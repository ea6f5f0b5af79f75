import type { Compile, Database } from "../../database/postgres/database.ts";
import { COMMENT_TABLES, CREATE_TABLES, FINISH_TABLES } from "./schema.ts";
import { planFeeds } from "./feeds.ts";
import { generateShop, type Row, type ShopTable } from "./generate.ts";
import { COUNTRIES } from "./places.ts";
import { SHOPS } from "./shops.ts";

const FILL_ORDER: readonly ShopTable[] = [
  "customers",
  "products",
  "orders",
  "order_lines",
  "user_passwords",
];

/** How filling reports its progress, and what ends it. */
export interface FillOptions {
  /** Takes the name of the table that is filled next. */
  readonly report?: (table: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Fills an embedded database with the demonstration: the shops of two tenants. Everything is done in
 * one transaction, so that a start that is stopped or killed leaves nothing, and the next one fills it
 * and shows its tokens. If the schema `public` has a table already, nothing is done.
 *
 * @returns true when the demonstration was created now
 * @throws {DatabaseError} and the reason of the signal, when that is aborted
 * @see R4
 */
export async function fillDemonstration(
  database: Database,
  { report = () => {}, signal }: FillOptions = {},
): Promise<boolean> {
  const [found] = await database.run<{ tables: string; log: string }>(
    (sql) =>
      sql`select count(*)::text as tables,
          (pg_catalog.to_regclass('rowgate.feeds') is not null)::text as log
        from pg_catalog.pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    { write: false },
  );
  if (found?.tables !== "0") return false;
  const feeds = found.log === "true" ? planFeeds() : [];
  const statements = [...planStatements(report), ...feeds].map((compile): Compile => (sql) => {
    signal?.throwIfAborted();
    return compile(sql);
  });
  await database.transact(statements, { rollback: false });
  return true;
}

function planStatements(report: (table: string) => void): readonly Compile[] {
  const shops = SHOPS.map(generateShop);
  // A statement is compiled when it is run.
  const announce = (table: ShopTable): Compile => {
    const insert = insertRows(table, shops.flatMap((rows) => rows[table]));
    return (sql) => {
      report(table);
      return insert(sql);
    };
  };
  return [
    ...CREATE_TABLES,
    insertRows(
      "countries",
      COUNTRIES.map(({ code, name, currency }) => ({ code, name, currency })),
    ),
    ...FILL_ORDER.map(announce),
    ...FINISH_TABLES,
    ...COMMENT_TABLES,
  ];
}

/** Compiles the statement that puts the rows into their table: one parameter, a JSON array. */
export function insertRows(table: ShopTable | "countries", rows: readonly Row[]): Compile {
  const json = JSON.stringify(rows);
  switch (table) {
    case "countries":
      return (sql) =>
        sql`insert into public.countries
          select code, name, currency
          from json_populate_recordset(null::public.countries, ${json}::text::json)`;
    case "customers":
      return (sql) =>
        sql`insert into public.customers
          select * from json_populate_recordset(null::public.customers, ${json}::text::json)`;
    case "products":
      return (sql) =>
        sql`insert into public.products
          select * from json_populate_recordset(null::public.products, ${json}::text::json)`;
    case "orders":
      return (sql) =>
        sql`insert into public.orders
          select * from json_populate_recordset(null::public.orders, ${json}::text::json)`;
    case "order_lines":
      // The amount is generated; a line was last changed with its order.
      return (sql) =>
        sql`insert into public.order_lines
            (order_id, line_no, tenant_id, product_id, quantity, unit_price, modified_at)
          select l.order_id, l.line_no, l.tenant_id, l.product_id, l.quantity, l.unit_price,
            o.modified_at
          from json_populate_recordset(null::public.order_lines, ${json}::text::json) l
          join public.orders o on o.id = l.order_id`;
    case "user_passwords":
      return (sql) =>
        sql`insert into public.user_passwords
          select * from json_populate_recordset(null::public.user_passwords, ${json}::text::json)`;
  }
}
