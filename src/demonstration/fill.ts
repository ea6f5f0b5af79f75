import type { Compile, Database } from "../postgres/database.ts";
import { COMMENT_TABLES } from "./comments.ts";
import type { ShopTable } from "./generate.ts";
import { generateShop } from "./generate.ts";
import { insertRows } from "./insert.ts";
import { COUNTRIES } from "./places.ts";
import { CREATE_TABLES, FINISH_TABLES } from "./schema.ts";
import { SHOPS } from "./shops.ts";

const FILL_ORDER: readonly ShopTable[] = [
  "customers",
  "products",
  "orders",
  "order_lines",
  "user_passwords",
];

/**
 * Fills an embedded database with the demonstration: two tenants of a small shop. Everything stands
 * in one transaction, so a start that is killed leaves nothing; a schema `public` with any table in it
 * is left as it is.
 *
 * @param progress is told which table comes next
 * @returns true when the demonstration was made now
 * @throws {ApiError} as the database rejects
 * @see R4
 */
export async function fillDemonstration(
  database: Database,
  progress: (doing: string) => void = () => {},
): Promise<boolean> {
  const [found] = await database.run<{ tables: string }>(
    (sql) =>
      sql`select count(*)::text as tables from pg_catalog.pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    { write: false },
  );
  if (found?.tables !== "0") return false;
  await database.transact(planStatements(progress), { rollback: false });
  return true;
}

function planStatements(progress: (doing: string) => void): readonly Compile[] {
  const shops = SHOPS.map(generateShop);
  // A statement is compiled when its turn has come.
  const announce = (table: ShopTable): Compile => {
    const insert = insertRows(table, shops.flatMap((rows) => rows[table]));
    return (sql) => {
      progress(table);
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
