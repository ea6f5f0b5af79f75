import type { Database } from "../../src/database/postgres/database.ts";

/** How many tables an operator of a large schema may have. */
export const MANY_TABLES = 500;
/** Columns of the widest of them, besides its key and tenant. */
export const MANY_COLUMNS = 100;

/** Adds tables `archive_001` and so on, and one that is wide and has rows, `measurements`. */
export async function addManyTables(database: Database): Promise<void> {
  await database.run(
    (sql) =>
      sql`
        do $$
        declare
          names text := (
            select string_agg(format('reading_%s numeric(12, 3)', lpad(n::text, 3, '0')), ', ' order by n)
            from generate_series(1, 100) n
          );
        begin
          for n in 1..500 loop
            execute format(
              'create table public.archive_%s (id int8 primary key, tenant_id text not null, note text)',
              lpad(n::text, 3, '0')
            );
          end loop;
          execute format(
            'create table public.measurements (
              id uuid primary key, tenant_id text not null, %s, measured_at timestamptz)',
            names
          );
          insert into public.measurements (id, tenant_id, reading_001, reading_099, measured_at)
          select md5(n::text)::uuid, 'acme', n, n / 8.0, timestamptz '2026-03-01' + n * interval '1 hour'
          from generate_series(1, 400) n;
        end
        $$`,
    { write: true },
  );
}
