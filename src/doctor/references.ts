import { printArray } from "../text/array_text.ts";
import { askJson, type Check, count, type Diagnosis, type Setup } from "./diagnosis.ts";

/** A foreign key from or to a table without a tenant column, which no tenant column can be added to. */
interface Reference {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
}

/** Rows that belong to a tenant over foreign keys refer to others by keys without the tenant. */
export const checkReferences: Check = { name: "other foreign keys", look };

async function look(setup: Setup): Promise<Diagnosis> {
  const references = (await readReferences(setup)).filter((each) => !isStep(setup, each));
  const findings = references.filter((each) => isWritable(setup, each)).map((reference) => {
    const { name, table, columns, target } = reference;
    const policy = { tables: { [table]: { read_only_columns: columns } } };
    return {
      id: `reference:${table}.${name}`,
      level: "warning" as const,
      what: `${table} may refer to any tenant's rows of ${target} (${name})`,
      why:
        `whether an update of ${columns.join(", ")} succeeds depends on rows of other tenants, ` +
        "which reveals that they exist",
      fix: `in the policy file: ${JSON.stringify(policy)}    -- if clients need not set it`,
    };
  });
  return { seen: count(references.length, "foreign key"), findings };
}

/** The keys that lead to the tenant are checked by each update. @see T61 */
function isStep({ catalogue }: Setup, { table, columns, target }: Reference): boolean {
  const [first] = catalogue.tables.get(table)!.tenancy?.via ?? [];
  return first?.table === target && first.columns.length === columns.length &&
    first.columns.every((column) => columns.includes(column));
}

/** A value that no update can set cannot be tried out. */
function isWritable({ catalogue }: Setup, { table, columns }: Reference): boolean {
  const found = catalogue.tables.get(table)!;
  return found.writable && columns.some((name) => {
    const column = found.columns.get(name);
    return column !== undefined && column.readOnly === undefined;
  });
}

function readReferences(
  { database, config, catalogue }: Setup,
): Promise<readonly Reference[]> {
  const tables = [...catalogue.tables.values()].filter(({ tenancy }) => tenancy !== undefined);
  const belonging = tables.filter(({ tenant }) => tenant === undefined);
  const [all, some] = [tables, belonging].map((list) => printArray(list.map(({ name }) => name)));
  return askJson(
    database,
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', k.conname,
        'table', a.relname, 'target', b.relname,
        'columns', (select pg_catalog.json_agg(f.attname order by place)
          from unnest(k.conkey) with ordinality key (number, place)
          join pg_catalog.pg_attribute f on f.attrelid = k.conrelid and f.attnum = key.number))
        order by a.relname, k.conname), '[]')::text as found
      from pg_catalog.pg_constraint k
      join pg_catalog.pg_class a on a.oid = k.conrelid
      join pg_catalog.pg_class b on b.oid = k.confrelid and b.relnamespace = a.relnamespace
      join pg_catalog.pg_namespace n on n.oid = a.relnamespace and n.nspname = ${config.schema}::text
      where k.contype = 'f' and k.conparentid = 0
        and a.relname = any (${all!}::text::text[]) and b.relname = any (${all!}::text::text[])
        and (a.relname = any (${some!}::text::text[]) or b.relname = any (${some!}::text::text[]))`,
  );
}
