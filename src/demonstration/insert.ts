import type { Compile } from "../postgres/database.ts";
import type { ShopTable } from "./generate.ts";
import type { Row } from "./row.ts";

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
