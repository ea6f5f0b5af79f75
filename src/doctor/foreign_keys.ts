import { quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { join, literal } from "../sql/fragment.ts";
import {
  askJson,
  askTruth,
  type Check,
  compileTables,
  count,
  type Diagnosis,
  type Finding,
  listTenantTables,
  type Setup,
  type TenantTable,
} from "./diagnosis.ts";
import { type Ends, extendForeignKey } from "./extend_foreign_key.ts";

/** A row must refer to rows of its own tenant; best if the key itself ensures that. */
export const checkForeignKeys: Check = { name: "foreign keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const keys = await readForeignKeys(setup);
  const findings: Finding[] = [];
  for (const key of keys) {
    const [from, to] = [key.table, key.target].map((name) => setup.catalogue.tables.get(name)!);
    const ends = { from: from as OneColumnTable, to: to as OneColumnTable };
    if (
      key.columns.some((column, place) =>
        column === ends.from.tenant.name && key.targetColumns[place] === ends.to.tenant.name
      )
    ) continue;
    setup.progress(key.name);
    findings.push(describe(key, { ...ends, crossing: await crosses(setup, { key, ...ends }) }));
  }
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
      why:
        `whether an update of ${columns.join(", ")} succeeds depends on rows of other tenants, ` +
        "which reveals that they exist",
      fix,
    };
}

function selectCrossing({ columns, targetColumns }: ForeignKey, { from, to }: Ends): string {
  const same = columns.map((column, place) =>
    `a.${quoteIdentifier(column)} = b.${quoteIdentifier(targetColumns[place]!)}`
  );
  return `select a.* from ${from.identifier} a join ${to.identifier} b on ${same.join(" and ")}` +
    ` where a.${from.tenant.identifier}::text <> b.${to.tenant.identifier}::text;`;
}

function crosses(
  { database }: Setup,
  { key, from, to }: Ends & { key: ForeignKey },
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

/** A table with one tenant column; of others, `other foreign keys` are checked. */
export type OneColumnTable = TenantTable & { readonly tenant: NonNullable<TenantTable["tenant"]> };

/** A foreign key between two tables with tenant columns, with its whole definition. */
export interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
  /** As in `pg_constraint`: a no action, r restrict, c cascade, n set null, d set default. */
  readonly onDelete: Action;
  readonly onUpdate: Action;
  /** The columns that `on delete set null` or `set default` lists; null: it lists none. */
  readonly setColumns: readonly string[] | null;
  /** The server supports such lists: PostgreSQL 15 and later. */
  readonly knowsSetColumns: boolean;
  readonly matchFull: boolean;
  readonly deferrable: boolean;
  readonly deferred: boolean;
  readonly validated: boolean;
  readonly comment: string | null;
  /** Not enforced, over periods, or with triggers that are disabled. */
  readonly peculiar: boolean;
  /** One of its columns may be NULL. */
  readonly nullable: boolean;
  /** One of the two tenant columns may be NULL. */
  readonly tenantNullable: boolean;
  /** A foreign key can compare the two tenant columns. */
  readonly tenantComparable: boolean;
  /** The tenant column of the table is generated. */
  readonly tenantGenerated: boolean;
  /** The target has a unique index on its tenant column and the referenced columns. */
  readonly indexed: boolean;
  /** The target is partitioned. */
  readonly targetPartitioned: boolean;
  /** Column numbers of the target: its tenant column, then the referenced ones. */
  readonly targetNumbers: readonly number[];
}

/** What happens to a row when the row that it refers to is deleted or its key changes. */
export type Action = "a" | "r" | "c" | "n" | "d";

/**
 * Reads the foreign keys between tables with tenant columns. Columns of `pg_constraint` that older
 * servers lack are read through `to_jsonb`.
 * @throws {DatabaseError}
 */
export function readForeignKeys(
  setup: Pick<Setup, "catalogue" | "database">,
): Promise<readonly ForeignKey[]> {
  const tables = listTenantTables(setup).filter(({ tenant }) => tenant !== undefined);
  return askJson(setup.database, (sql) =>
    sql`with tables as (
        select c.oid, wanted.name, c.relkind, t.attnum, t.attnotnull, t.atttypid, t.attgenerated
        from ${compileTables(sql, tables)}
        join pg_catalog.pg_class c on c.oid = wanted.oid
        join pg_catalog.pg_attribute t on t.attrelid = c.oid and t.attname = wanted.tenants ->> 0
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
        'tenantNullable', not (a.attnotnull and b.attnotnull),
        'tenantComparable', a.atttypid = b.atttypid
          or (a.atttypid in (20, 21, 23) and b.atttypid in (20, 21, 23))
          or (a.atttypid in (25, 1043) and b.atttypid in (25, 1043)),
        'tenantGenerated', a.attgenerated <> '',
        'indexed', exists (select from pg_catalog.pg_index i
          where i.indrelid = b.oid and i.indisunique and i.indimmediate and i.indisvalid
            and i.indpred is null and i.indexprs is null
            and (select pg_catalog.array_agg(number order by number)
                from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) number)
              = (select pg_catalog.array_agg(number order by number)
                from unnest(b.attnum || k.confkey) number)),
        'targetPartitioned', b.relkind = 'p',
        'targetNumbers', pg_catalog.to_json(b.attnum || k.confkey))
        order by a.name, k.conname), '[]')::text as found
      from pg_catalog.pg_constraint k
      join tables a on a.oid = k.conrelid
      join tables b on b.oid = k.confrelid
      where k.contype = 'f' and k.conparentid = 0`);
}
