import { printArray } from "../../basics/text/array_text.ts";
import {
  askJson,
  type Check,
  compileTables,
  count,
  describeUnchecked,
  type Diagnosis,
  findStoredColumn,
  isReferenceChecked,
  printPolicy,
  type Setup,
} from "./diagnosis.ts";

/** A foreign key between tables that do not name their tenants in as many columns of their own. */
interface Reference {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
}

/** Rows that belong to a tenant over foreign keys refer to others by keys without the tenant. */
export const checkReferences: Check = { name: "other foreign keys", examine: examineReferences };

async function examineReferences(setup: Setup): Promise<Diagnosis> {
  const references = (await readReferences(setup)).filter((each) =>
    !isStep(setup, each) && !isChecked(setup, each) && !canPairTenants(setup, each)
  );
  const findings = references.filter((each) => isWritable(setup, each)).map((reference) => {
    const { name, table, columns, target } = reference;
    const policy = printPolicy(setup.catalogue.tables.get(table)!, { read_only_columns: columns });
    return {
      id: `reference:${table}.${name}`,
      level: "warning" as const,
      what: `${table} may refer to any tenant's rows of ${target} (${name})`,
      why: describeUnchecked(columns),
      fix: `in the policy file: ${policy}    -- if clients need not set it`,
    };
  });
  return { seen: count(references.length, "foreign key"), findings };
}

/** The keys that lead to the tenant are checked by each update. @see T61 */
function isStep({ catalogue }: Setup, { table, columns, target }: Reference): boolean {
  const [first] = catalogue.tables.get(table)!.tenancy?.via ?? [];
  const parent = catalogue.tables.get(target)!;
  return first !== undefined && first.identifier === parent.identifier &&
    first.columns.length === columns.length &&
    first.columns.every((column) => columns.includes(column));
}

function isChecked({ catalogue }: Setup, { table, columns, target }: Reference): boolean {
  return isReferenceChecked(catalogue.tables.get(table)!, columns, catalogue.tables.get(target)!);
}

/** A key between them can compare the tenants: it is one of the check of foreign keys. */
function canPairTenants({ catalogue }: Setup, { table, target }: Reference): boolean {
  const [own, other] = [table, target].map((name) => {
    const { tenancy } = catalogue.tables.get(name)!;
    return tenancy?.via.length === 0 ? tenancy.columns.length : 0;
  });
  return own !== 0 && own === other;
}

/** A value that no update can set cannot be tried out. */
function isWritable({ catalogue }: Setup, { table, columns }: Reference): boolean {
  const found = catalogue.tables.get(table)!;
  return found.writable && columns.some((name) => {
    const column = findStoredColumn(found, name);
    return column !== undefined && column.readOnly === undefined;
  });
}

function readReferences(
  { database, catalogue }: Setup,
): Promise<readonly Reference[]> {
  const tables = [...catalogue.tables.values()].filter(({ tenancy }) => tenancy !== undefined);
  const others = printArray(
    tables.filter(({ tenant }) => tenant === undefined).map(({ name }) => name),
  );
  return askJson(
    database,
    (sql) =>
      sql`with tables as (select wanted.name, wanted.oid from ${compileTables(sql, tables)})
      select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', k.conname,
        'table', a.name, 'target', b.name,
        'columns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.conkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.conrelid and f.attnum = key.number))
        order by a.name, k.conname), '[]')::text as found
      from pg_catalog.pg_constraint k
      join tables a on a.oid = k.conrelid
      join tables b on b.oid = k.confrelid
      where k.contype = 'f' and k.conparentid = 0
        and (a.name = any (${others}::text::text[]) or b.name = any (${others}::text::text[]))`,
  );
}
