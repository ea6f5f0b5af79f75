import type { Table } from "../catalogue/catalogue.ts";
import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import type { Config } from "../server/config/config.ts";
import { askJson, compileTables } from "./doctor/diagnosis.ts";
import { extendForeignKey, type ForeignKey } from "./doctor/extend_foreign_key.ts";
import type { TenantTable } from "./doctor/diagnosis.ts";
import { readForeignKeys } from "./doctor/foreign_keys.ts";
import type { Setup } from "./doctor/diagnosis.ts";
import { quoteText } from "../basics/text/quote_text.ts";

/** What the statements are made of: the exposed tables, and the database that has them. */
export type CitusSource = Pick<Setup, "catalogue" | "database"> & { readonly config: Config };

/** A unique key that has not the tenant column. */
interface UniqueKey {
  readonly table: string;
  /** Quoted. */
  readonly schema: string;
  readonly name: string;
  readonly kind: "primary key" | "unique";
  readonly columns: readonly string[];
  /** False for an index of expressions, of a part of the rows, or with another operator class. */
  readonly plain: boolean;
  /** A constraint, and not only an index. */
  readonly constraint: boolean;
  readonly definition: string;
}

/**
 * Prints the statements that distribute the exposed tables over the servers of a Citus database, for
 * psql, in the order in which they have to be run: the role's limits, keys that begin with the tenant,
 * reference tables, and each table by its tenant column.
 * @see docs/operations/citus.md
 */
export async function describeCitus(source: CitusSource): Promise<string> {
  const tables = [...source.catalogue.tables.values()];
  const all = await readForeignKeys(source);
  const keys = all.filter((key) =>
    isOneColumn(source, key.table) && isOneColumn(source, key.target)
  );
  const owned = tables.filter(isOwned);
  const unique = await readUniqueKeys(source, owned);
  const sections = [
    section("Limits that statements on the other servers have, too", limitRole(source.config)),
    section("Foreign keys refer within a tenant", keys.flatMap((key) => extend(source, key))),
    section(
      "Unique keys begin with the tenant: each tenant has its own values",
      unique.map(replace),
    ),
    section(
      "Tables that all tenants share are on every server",
      tables.filter(({ tenancy, distribution }) =>
        tenancy === undefined && distribution === undefined
      )
        .map(({ identifier }) =>
          `select pg_catalog.create_reference_table(${quoteText(identifier)});`
        ),
    ),
    section("Each tenant's rows are on one server", distribute(owned, keys)),
    section("By hand", tables.filter((table) => !isOwned(table)).flatMap(explain)),
  ];
  return `-- Run this as the owner of the database, on the coordinator. Read it first: a key that applies to
-- each tenant alone no longer rejects what two tenants have in common.
-- The schema rowgate stays as it is, on the coordinator: distribute none of its tables.
${sections.join("")}`;
}

function section(title: string, statements: readonly string[]): string {
  return statements.length === 0 ? "" : `\n-- ${title}.\n${statements.join("\n")}\n`;
}

function limitRole({ lockTimeoutMs, statementTimeoutMs }: Config): string[] {
  return [
    `alter role rowgate_app set lock_timeout = '${lockTimeoutMs}ms';`,
    `alter role rowgate_app set statement_timeout = '${statementTimeoutMs}ms';`,
    "grant usage on all sequences in schema rowgate to rowgate_app;",
  ];
}

/** A table with one tenant column of its own. */
type OneColumnTable = TenantTable & { readonly tenant: NonNullable<TenantTable["tenant"]> };

function isOwned(table: Table): table is OneColumnTable {
  return table.tenant !== undefined;
}

function isOneColumn({ catalogue }: CitusSource, name: string): boolean {
  const table = catalogue.tables.get(name);
  return table !== undefined && isOwned(table);
}

function extend({ catalogue }: CitusSource, key: ForeignKey): string[] {
  const [from, to] = [key.table, key.target].map((name) =>
    catalogue.tables.get(name) as OneColumnTable
  );
  if (key.tenants.every(({ paired }) => paired)) return [];
  const text = extendForeignKey(key, { from: from!, to: to! });
  return [/^(create|alter) /.test(text) ? text : `-- ${text}`];
}

function replace(
  { table, schema, name, kind, columns, plain, constraint, definition }: UniqueKey,
): string {
  const key = columns.map(quoteIdentifier).join(", ");
  if (!plain) return `-- by hand, with the tenant column before the others: ${definition}`;
  const quoted = quoteIdentifier(name);
  return constraint
    ? `alter table ${table} drop constraint ${quoted}, add constraint ${quoted} ${kind} (${key});`
    : `drop index ${schema}.${quoted}; create unique index ${quoted} on ${table} (${key});`;
}

/** A table that others refer to comes before them; tables with one type of tenant stay together. */
function distribute(tables: readonly OneColumnTable[], keys: readonly ForeignKey[]): string[] {
  const first = new Map<string, string>();
  const seen = new Set<string>();
  const statements: string[] = [];
  const byName = new Map(tables.map((table) => [table.name, table]));
  function visit({ name, identifier, tenant, distribution }: OneColumnTable): void {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { table, target } of keys) {
      if (table === name && byName.has(target)) visit(byName.get(target)!);
    }
    const beside = first.get(tenant.kind);
    if (beside === undefined) first.set(tenant.kind, identifier);
    if (distribution !== undefined) return;
    statements.push(
      `select pg_catalog.create_distributed_table(${quoteText(identifier)}, ${
        quoteText(tenant.name)
      }, ` +
        `colocate_with => ${quoteText(beside ?? "none")});`,
    );
  }
  for (const table of tables) visit(table);
  return statements;
}

/** Says what keeps a table from being distributed by its tenant. */
function explain({ name, tenancy }: Table): string[] {
  if (tenancy === undefined) return [];
  return [
    tenancy.via.length > 0
      ? `-- ${name} has no tenant column: add one, fill it, and name it in no "tenant_via"`
      : `-- ${name} has a tenant of several columns: a table is distributed by one`,
  ];
}

function readUniqueKeys(
  { database }: CitusSource,
  tables: readonly OneColumnTable[],
): Promise<readonly UniqueKey[]> {
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'table', pg_catalog.format('%I.%I', n.nspname, c.relname), 'name', x.relname,
      'schema', pg_catalog.quote_ident(n.nspname),
      'kind', case when i.indisprimary then 'primary key' else 'unique' end,
      'columns', (select pg_catalog.json_agg(a.attname order by u.place)
        from (select t.attnum, 0 union all
          select key.number, key.place
          from pg_catalog.unnest((i.indkey::int2[])[0:i.indnkeyatts - 1])
            with ordinality key (number, place)) u (number, place)
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = u.number),
      'plain', i.indpred is null and i.indexprs is null and not coalesce(k.condeferrable, false)
        and i.indnkeyatts = i.indnatts and not exists (
          select from pg_catalog.unnest(i.indclass::pg_catalog.oid[]) class (oid)
          join pg_catalog.pg_opclass o on o.oid = class.oid and not o.opcdefault),
      'constraint', k.oid is not null,
      'definition', pg_catalog.pg_get_indexdef(i.indexrelid)) order by wanted.name, x.relname), '[]'
    )::text as found
    from ${compileTables(sql, tables)}
    join pg_catalog.pg_class c on c.oid = wanted.oid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute t on t.attrelid = c.oid and t.attname = wanted.tenants ->> 0
    join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisunique
      and not t.attnum = any (i.indkey::int2[])
    join pg_catalog.pg_class x on x.oid = i.indexrelid
    left join pg_catalog.pg_constraint k on k.conindid = i.indexrelid and k.conrelid = c.oid
      and k.contype in ('p', 'u')`,
  );
}
