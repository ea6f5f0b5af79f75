import type { Compile } from "../postgres/database.ts";

/** Writes the comments that Get Tables and Get Fields show. */
export const COMMENT_TABLES: readonly Compile[] = [
  (sql) => sql`comment on table public.countries is 'Countries, shared by all tenants'`,
  (sql) => sql`comment on column public.countries.code is 'ISO 3166-1 alpha-2'`,
  (sql) => sql`comment on column public.countries.currency is 'ISO 4217'`,
  (sql) => sql`comment on table public.customers is 'Customers of the shop'`,
  (sql) => sql`comment on column public.customers.credit_limit is 'In euro; null: pays in advance'`,
  (sql) => sql`comment on column public.customers.tags is 'Free labels of the sales team'`,
  (sql) => sql`comment on column public.customers.modified_at is 'Last change, kept by a trigger'`,
  (sql) => sql`comment on table public.products is 'What the shop sells'`,
  (sql) => sql`comment on column public.products.price is 'In euro, tax included'`,
  (sql) => sql`comment on column public.products.stock is 'Pieces in the warehouse'`,
  (sql) => sql`comment on column public.products.modified_at is 'Last change, kept by a trigger'`,
  (sql) => sql`comment on table public.orders is 'Orders, one row each'`,
  (sql) => sql`comment on column public.orders.order_no is 'The number the customer knows'`,
  (sql) => sql`comment on column public.orders.total is 'In euro: the sum of the lines as ordered'`,
  (sql) => sql`comment on column public.orders.shipped_at is 'Null until the parcel has left'`,
  (sql) => sql`comment on column public.orders.delivery is 'Carrier and number of parcels'`,
  (sql) => sql`comment on column public.orders.modified_at is 'Last change, kept by a trigger'`,
  (sql) => sql`comment on table public.order_lines is 'Lines of the orders'`,
  (sql) => sql`comment on column public.order_lines.amount is 'Quantity times unit price'`,
  (sql) =>
    sql`comment on column public.order_lines.modified_at is 'Last change, kept by a trigger'`,
  (sql) => sql`comment on table public.user_passwords is 'Credentials: never readable by clients'`,
];
