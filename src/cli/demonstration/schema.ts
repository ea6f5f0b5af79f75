import type { Compile } from "../../database/postgres/database.ts";

/** Create the tables of the demonstration, in the schema `public`. */
export const CREATE_TABLES: readonly Compile[] = [
  (sql) =>
    sql`create type public.order_status as enum
      ('draft', 'placed', 'paid', 'shipped', 'delivered', 'cancelled')`,
  (sql) =>
    sql`create table public.countries (
      code text primary key,
      name text not null,
      currency text not null
    )`,
  (sql) =>
    sql`create table public.customers (
      id int4 primary key,
      tenant_id text not null,
      name text not null,
      email text not null,
      country_code text not null references public.countries (code),
      city text not null,
      credit_limit numeric(12, 2) constraint customers_credit_limit_check check (credit_limit >= 0),
      newsletter bool not null default false,
      tags text[] not null default '{}',
      customer_since date not null,
      modified_at timestamptz not null default clock_timestamp(),
      constraint customers_tenant_key unique (tenant_id, id),
      constraint customers_email_key unique (tenant_id, email)
    )`,
  (sql) =>
    sql`create table public.products (
      id int4 primary key,
      tenant_id text not null,
      sku text not null,
      name text not null,
      category text not null,
      price numeric(12, 2) not null constraint products_price_check check (price > 0),
      stock int4 not null constraint products_stock_check check (stock >= 0),
      weight_grams int4 not null,
      discontinued bool not null default false,
      modified_at timestamptz not null default clock_timestamp(),
      constraint products_tenant_key unique (tenant_id, id),
      constraint products_sku_key unique (tenant_id, sku)
    )`,
  (sql) =>
    sql`create table public.orders (
      id int8 primary key,
      tenant_id text not null,
      order_no text not null,
      customer_id int4 not null,
      status public.order_status not null default 'draft',
      total numeric(12, 2) not null,
      ordered_on date not null,
      shipped_at timestamptz,
      delivery jsonb,
      note text,
      modified_at timestamptz not null default clock_timestamp(),
      constraint orders_tenant_key unique (tenant_id, id),
      constraint orders_order_no_key unique (tenant_id, order_no),
      constraint orders_customer_fkey foreign key (tenant_id, customer_id)
        references public.customers (tenant_id, id)
    )`,
  (sql) =>
    sql`create table public.order_lines (
      order_id int8 not null,
      line_no int4 not null,
      tenant_id text not null,
      product_id int4 not null,
      quantity int4 not null constraint order_lines_quantity_check check (quantity > 0),
      unit_price numeric(12, 2) not null,
      amount numeric(12, 2) generated always as (quantity * unit_price) stored,
      modified_at timestamptz not null default clock_timestamp(),
      primary key (order_id, line_no),
      constraint order_lines_order_fkey foreign key (tenant_id, order_id)
        references public.orders (tenant_id, id),
      constraint order_lines_product_fkey foreign key (tenant_id, product_id)
        references public.products (tenant_id, id)
    )`,
  (sql) =>
    sql`create table public.user_passwords (
      tenant_id text not null,
      user_name text not null,
      digest text not null,
      changed_at timestamptz not null,
      primary key (tenant_id, user_name)
    )`,
];

/** Create what is cheaper after the rows are inserted: indexes and triggers; then analyse. */
export const FINISH_TABLES: readonly Compile[] = [
  (sql) => sql`create index customers_modified_at on public.customers (tenant_id, modified_at)`,
  (sql) => sql`create index products_modified_at on public.products (tenant_id, modified_at)`,
  (sql) => sql`create index orders_modified_at on public.orders (tenant_id, modified_at)`,
  (sql) => sql`create index orders_customer on public.orders (tenant_id, customer_id)`,
  (sql) => sql`create index orders_status on public.orders (tenant_id, status)`,
  (sql) => sql`create index order_lines_order on public.order_lines (tenant_id, order_id)`,
  (sql) => sql`create index order_lines_product on public.order_lines (tenant_id, product_id)`,
  // The embedded clock has milliseconds only; a counter gives the rows of one update different times.
  (sql) => sql`create sequence public.changes maxvalue 999 minvalue 0 cycle`,
  (sql) =>
    sql`create function public.keep_modified_at() returns trigger language plpgsql as $$
      begin
        new.modified_at := date_trunc('milliseconds', clock_timestamp())
          + nextval('public.changes') * interval '1 microsecond';
        return new;
      end $$`,
  (sql) =>
    sql`create trigger customers_modified before update on public.customers
      for each row execute function public.keep_modified_at()`,
  (sql) =>
    sql`create trigger products_modified before update on public.products
      for each row execute function public.keep_modified_at()`,
  (sql) =>
    sql`create trigger orders_modified before update on public.orders
      for each row execute function public.keep_modified_at()`,
  (sql) =>
    sql`create trigger order_lines_modified before update on public.order_lines
      for each row execute function public.keep_modified_at()`,
  (sql) => sql`analyze`,
];

/** Create the comments that the lists of tables and fields show. */
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

/**
 * The policy of the demonstration, unless the operator names a policy file.
 * @see T12
 */
export const DEMONSTRATION_POLICY = { tables: { countries: { shared: true } } };
