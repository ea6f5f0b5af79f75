import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { qualify } from "../../database/postgres/qualify.ts";
import { join, literal } from "../../records/sql/fragment.ts";
import { compileComparison } from "../../records/sql/operator.ts";
import {
  askJson,
  askTruth,
  type Check,
  compileTables,
  count,
  describeUnchecked,
  type Diagnosis,
  type Finding,
  findStoredColumn,
  isReferenceChecked,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";
import { examineEach } from "./examine_each.ts";
import { type Ends, extendForeignKey, type ForeignKey } from "./extend_foreign_key.ts";

/** A row must refer to rows of its own tenant; best if the key itself ensures that. */
export const checkForeignKeys: Check = { name: "foreign keys", examine: examineForeignKeys };

async function examineForeignKeys(setup: Setup): Promise<Diagnosis> {
  const keys = await readForeignKeys(setup);
  const unpaired = keys.filter(({ tenants }) => tenants.some(({ paired }) => !paired));
  const findings = await examineEach(unpaired, {
    check: checkForeignKeys.name,
    nameOf: ({ table, name }) => `${table}.${name}`,
    async examine(key) {
      const [from, to] = [key.table, key.target].map((name) =>
        setup.catalogue.tables.get(name) as TenantTable
      );
      const ends: Ends = { from: from!, to: to! };
      setup.progress(key.name);
      const crossing = await crosses(setup, { key, ...ends });
      return crossing || !isReferenceChecked(ends.from, key.columns, ends.to)
        ? [describe(key, { ...ends, crossing })]
        : [];
    },
  });
  return { seen: count(keys.length, "foreign key"), findings };
}

function describe(key: ForeignKey, ends: Ends & { crossing: boolean }): Finding {
  const { name, table, columns, target } = key;
  const fix = extendForeignKey(key, ends);
  return ends.crossing
    ? {
      id: `crossing_rows:${table}.${name}`,
      level: "error",
      what: `rows of ${table} refer to rows of ${target} that belong to another tenant (${name})`,
      why: "a join or trigger that follows the reference reads or writes rows of another tenant",
      fix: `${selectCrossing(key, ends)}    -- correct these rows first\n${fix}`,
    }
    : {
      id: `foreign_key:${table}.${name}`,
      level: "warning",
      what: `${table} may refer to any tenant's rows of ${target} (${name})`,
      why: describeUnchecked(columns),
      fix,
    };
}

function selectCrossing(
  { columns, targetColumns, tenants }: ForeignKey,
  { from, to }: Ends,
): string {
  const same = columns.map((column, place) => {
    const operators = findStoredColumn(from, column)?.operators;
    const equals = operators === undefined ? "=" : `operator(${operators}.=)`;
    return `a.${quoteIdentifier(column)} ${equals} b.${quoteIdentifier(targetColumns[place]!)}`;
  });
  const different = tenants.map(({ own, other }) =>
    `a.${quoteIdentifier(own)}::text <> b.${quoteIdentifier(other)}::text`
  );
  return qualify(
    `select a.* from ${from.identifier} a join ${to.identifier} b on ${same.join(" and ")}` +
      ` where ${different.join(" or ")};`,
  );
}

function crosses(
  { database }: Setup,
  { key, from, to }: Ends & { key: ForeignKey },
): Promise<boolean> {
  return askTruth(database, (sql) => {
    const name = (column: string) => literal(sql, quoteIdentifier(column));
    const same = key.columns.map((column, place) =>
      compileComparison(sql, "=", {
        column: { operators: findStoredColumn(from, column)?.operators },
        left: sql`"$a".${name(column)}`,
        right: sql`"$b".${name(key.targetColumns[place]!)}`,
      })
    );
    const different = key.tenants.map(({ own, other }) =>
      sql`"$a".${name(own)}::text <> "$b".${name(other)}::text`
    );
    return sql`select exists (select from ${literal(sql, from.identifier)} "$a"
      join ${literal(sql, to.identifier)} "$b" on ${join(sql, "and", same)}
      where ${join(sql, "or", different)})::text as found`;
  });
}

/**
 * Reads the foreign keys between tables whose tenants have as many columns; of all others, `other foreign
 * keys` are checked. Columns of `pg_constraint` that older servers lack are read through `to_jsonb`.
 * @throws {DatabaseError}
 */
export function readForeignKeys(
  setup: Pick<Setup, "catalogue" | "database">,
): Promise<readonly ForeignKey[]> {
  return askJson(setup.database, (sql) =>
    sql`with tables as (
        select c.oid, wanted.name, c.relkind, own.numbers
        from ${compileTables(sql, listTenantTables(setup))}
        join pg_catalog.pg_class c on c.oid = wanted.oid
        cross join lateral (
          select pg_catalog.array_agg(f.attnum order by w.place) as numbers
          from pg_catalog.json_array_elements_text(wanted.tenants) with ordinality w (name, place)
          join pg_catalog.pg_attribute f on f.attrelid = c.oid and f.attname = w.name
        ) own
      )
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
        'name', k.conname, 'table', a.name, 'target', b.name,
        'columns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.conkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.conrelid and f.attnum = key.number),
        'targetColumns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.confkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.confrelid and f.attnum = key.number),
        'onDelete', k.confdeltype, 'onUpdate', k.confupdtype,
        'setColumns', (select pg_catalog.json_agg(f.attname order by place)
          from pg_catalog.jsonb_array_elements_text(
            nullif(pg_catalog.to_jsonb(k) -> 'confdelsetcols', 'null'))
            with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.conrelid
            and f.attnum = key.number::int2),
        'knowsSetColumns', pg_catalog.to_jsonb(k) ? 'confdelsetcols',
        'matchFull', k.confmatchtype = 'f',
        'deferrable', k.condeferrable, 'deferred', k.condeferred, 'validated', k.convalidated,
        'comment', pg_catalog.obj_description(k.oid, 'pg_constraint'),
        'peculiar', coalesce(pg_catalog.to_jsonb(k) ->> 'conenforced', 'true') = 'false'
          or coalesce(pg_catalog.to_jsonb(k) ->> 'conperiod', 'false') = 'true'
          or exists (select from pg_catalog.pg_trigger g
            where g.tgconstraint = k.oid and g.tgenabled <> 'O'),
        'nullable', exists (select from pg_catalog.pg_attribute f
          where f.attrelid = k.conrelid and f.attnum = any (k.conkey) and not f.attnotnull),
        'tenants', p.tenants,
        'indexed', exists (select from pg_catalog.pg_index i
          where i.indrelid = b.oid and i.indisunique and i.indimmediate and i.indisvalid
            and i.indpred is null and i.indexprs is null
            and (select pg_catalog.array_agg(number order by number)
                from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) number)
              = (select pg_catalog.array_agg(number order by number)
                from unnest(p.added || k.confkey) number)),
        'targetPartitioned', b.relkind = 'p',
        'targetNumbers', pg_catalog.to_json(p.added || k.confkey))
        order by a.name, k.conname), '[]')::text as found
      from pg_catalog.pg_constraint k
      join tables a on a.oid = k.conrelid
      join tables b on b.oid = k.confrelid
        and pg_catalog.cardinality(b.numbers) = pg_catalog.cardinality(a.numbers)
      cross join lateral (
        select pg_catalog.json_agg(pg_catalog.json_build_object('own', x.attname, 'other', y.attname,
            'paired', z.paired, 'nullable', not (x.attnotnull and y.attnotnull),
            'comparable', x.atttypid = y.atttypid
              or (x.atttypid in (20, 21, 23) and y.atttypid in (20, 21, 23))
              or (x.atttypid in (25, 1043) and y.atttypid in (25, 1043)),
            'generated', x.attgenerated <> '') order by t.place) as tenants,
          coalesce(pg_catalog.array_agg(y.attnum order by t.place) filter (where not z.paired), '{}')
            as added
        from unnest(a.numbers, b.numbers) with ordinality t (own, other, place)
        join pg_catalog.pg_attribute x on x.attrelid = a.oid and x.attnum = t.own
        join pg_catalog.pg_attribute y on y.attrelid = b.oid and y.attnum = t.other
        cross join lateral (select exists (select from unnest(k.conkey, k.confkey) key (own, other)
          where key.own = x.attnum and key.other = y.attnum) as paired) z
      ) p
      where k.contype = 'f' and k.conparentid = 0`);
}
