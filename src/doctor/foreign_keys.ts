import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { join, literal } from "../sql/fragment.ts";
import { askJson, askTruth, printTenants } from "./ask.ts";
import {
  type Check,
  count,
  type Diagnosis,
  type Finding,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";

/** A foreign key from one table of tenants to another. */
interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

/** A reference must stay with its tenant: by the key itself, or by what is in the rows. */
export const checkForeignKeys: Check = { name: "foreign keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const keys = await readForeignKeys(setup);
  const findings: Finding[] = [];
  for (const key of keys) {
    const [from, to] = [key.table, key.target].map((name) => setup.catalogue.tables.get(name)!);
    const ends = { from: from as TenantTable, to: to as TenantTable };
    if (
      key.columns.some((column, place) =>
        column === ends.from.tenant.name && key.targetColumns[place] === ends.to.tenant.name
      )
    ) continue;
    setup.progress(key.name);
    findings.push(judge(key, { ...ends, crossing: await crosses(setup, { key, ...ends }) }));
  }
  return { seen: count(keys.length, "foreign key"), findings };
}

function judge(
  { name, table, columns, target, targetColumns }: ForeignKey,
  { from, to, crossing }: { from: TenantTable; to: TenantTable; crossing: boolean },
): Finding {
  const own = [from.tenant.name, ...columns].map(quoteIdentifier).join(", ");
  const other = [to.tenant.name, ...targetColumns].map(quoteIdentifier).join(", ");
  const fix = `alter table ${to.identifier} add unique (${other});\n` +
    `alter table ${from.identifier} add foreign key (${own}) references ${to.identifier} (${other});\n` +
    `alter table ${from.identifier} drop constraint ${quoteIdentifier(name)};`;
  return crossing
    ? {
      level: "error",
      what: `rows of ${table} refer to rows of ${target} that belong to another tenant (${name})`,
      why: "a join or a trigger that follows the reference leaves the tenant",
      fix: `find these rows first, then:\n${fix}`,
    }
    : {
      level: "warning",
      what: `${table} may refer to any tenant's rows of ${target} (${name})`,
      why: `an update of ${columns.join(", ")} is accepted or refused by rows of other tenants, ` +
        "which tells that they exist",
      fix,
    };
}

function crosses(
  { database }: Setup,
  { key, from, to }: { key: ForeignKey; from: TenantTable; to: TenantTable },
): Promise<boolean> {
  return askTruth(database, (sql) => {
    const name = (column: string) => literal(sql, quoteIdentifier(column));
    const same = key.columns.map((column, place) =>
      sql`"$a".${name(column)} = "$b".${name(key.targetColumns[place]!)}`
    );
    return sql`select exists (select from ${literal(sql, from.identifier)} "$a"
      join ${literal(sql, to.identifier)} "$b" on ${join(sql, "and", same)}
      where "$a".${name(from.tenant.name)}::text <> "$b".${
      name(to.tenant.name)
    }::text)::text as found`;
  });
}

function readForeignKeys(setup: Setup): Promise<readonly ForeignKey[]> {
  const [names] = printTenants(listTenantTables(setup));
  const { database, config } = setup;
  return askJson(database, (sql) =>
    sql`with tables as (
        select c.oid, c.relname from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = ${config.schema}::text
        where c.relname = any (${names}::text::text[])
      )
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', k.conname, 'table', a.relname, 'target', b.relname,
        'columns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.conkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.conrelid and f.attnum = key.number),
        'targetColumns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.confkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.confrelid and f.attnum = key.number))
        order by a.relname, k.conname), '[]')::text as found
      from pg_catalog.pg_constraint k
      join tables a on a.oid = k.conrelid
      join tables b on b.oid = k.confrelid
      where k.contype = 'f' and k.conparentid = 0`);
}
