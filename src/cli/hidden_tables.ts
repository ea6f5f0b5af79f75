import type { Catalogue } from "../catalogue/catalogue.ts";
import { qualifyTable, quoteIdentifier } from "../catalogue/quote_identifier.ts";
import { callTable } from "../catalogue/table_names.ts";
import { NAME_PATTERN } from "../basics/errors/limits.ts";
import type { Database } from "../database/postgres/database.ts";
import { printArray } from "../basics/text/array_text.ts";

/** Options for finding the tables that clients do not reach. */
export interface HiddenOptions {
  readonly schemas: readonly string[];
  readonly tenantColumn: string;
  readonly catalogue: Catalogue;
  /** The warnings from reading the catalogue. */
  readonly warnings: readonly string[];
}

/** A relation that is not exposed, why, and what to type to expose it, if that is possible. */
export interface Hidden {
  readonly name: string;
  readonly why: string;
  /** Statements for the owner of the database, all of which are needed. */
  readonly grants: readonly string[];
  /** Entries of the policy, one of which is needed. */
  readonly entries: readonly string[];
}

/** Why a table or column without a name is hidden. @see T70 */
export const UNWRITABLE =
  "its name has characters other than A-Z a-z 0-9 _, and none in the policy";

interface Relation {
  readonly schema: string;
  readonly name: string;
  /** As in `pg_class.relkind`. */
  readonly kind: string;
  /** Quoted as far as it has to be. */
  readonly identifier: string;
  readonly usable: boolean;
  readonly readable: boolean;
  readonly hasTenant: boolean;
  /** The role of the session, quoted. */
  readonly role: string;
  readonly foreignKeys: readonly ForeignKey[];
}

interface ForeignKey {
  readonly columns: readonly string[];
  readonly schema: string;
  readonly target: string;
}

/** Finds the tables and views of the schemas that are not exposed. @see R55 */
export async function findHidden(
  database: Database,
  options: HiddenOptions,
): Promise<readonly Hidden[]> {
  const { schemas, catalogue } = options;
  const exposed = new Set<string>([...catalogue.tables.values()].map((each) => each.identifier));
  const hidden = (await readRelations(database, options))
    .filter(({ schema, name }) => !exposed.has(qualifyTable(schema, name)));
  const paths = findPaths(hidden, catalogue);
  return hidden.map((relation) => ({
    name: callTable(relation, schemas),
    ...NOTHING,
    ...explain(relation, { ...options, paths: paths.get(relation) ?? [] }),
  }));
}

const NOTHING = { grants: [], entries: [] };

interface ExplainOptions extends HiddenOptions {
  /** Foreign keys that lead to a tenant. */
  readonly paths: readonly ForeignKey[];
}

type Reason = Pick<Hidden, "why"> & Partial<Hidden>;

function explain(relation: Relation, options: ExplainOptions): Reason {
  const { schemas, tenantColumn, catalogue } = options;
  const called = callTable(relation, schemas);
  if ([relation.name, called].some((name) => catalogue.credentialTables.has(name.toLowerCase()))) {
    return { why: "credential table" };
  }
  const closed = findWarning(relation, options);
  if (closed === undefined && !NAME_PATTERN.test(called)) {
    const name = called.replaceAll(/[^A-Za-z0-9_]/g, "_");
    return { why: UNWRITABLE, entries: [printEntry(relation, { name }, schemas)] };
  }
  const missing = explainRights(relation);
  if (missing !== undefined) return missing;
  const paths = options.paths.map((key) => printPath(relation, key, schemas));
  if (closed !== undefined) return { why: closed, entries: paths };
  if (!isTable(relation)) return explainView(relation, schemas);
  if (relation.hasTenant) {
    return {
      why: `its column ${tenantColumn} cannot be read, or cannot hold a tenant because of its type`,
    };
  }
  const own = printEntry(relation, { tenant_column: "…" }, schemas);
  const ways = paths.length > 0 ? paths : [`${own}    -- if a column names the tenant`];
  return {
    why: `no column ${tenantColumn}, and the policy names no other`,
    entries: [...ways, `${printEntry(relation, { shared: true }, schemas)}${SHARED}`],
  };
}

const SHARED = "    -- if all tenants may read it";
/** The end of a warning that a table stays closed. */
const CLOSED = ", not exposed";

/** Finds the warning of the policy that keeps a table closed. */
function findWarning(relation: Relation, { schemas, warnings }: HiddenOptions): string | undefined {
  const names = [keyOf(relation, schemas), callTable(relation, schemas)];
  const heads = names.flatMap((name) => [`policy: tables.${name}.`, `policy: tables.${name}:`]);
  return warnings.find((text) =>
    text.endsWith(CLOSED) && heads.some((head) => text.startsWith(head))
  )?.slice(0, -CLOSED.length);
}

function explainRights(relation: Relation): Reason | undefined {
  const { schema, identifier, usable, readable, role } = relation;
  if (!usable) {
    return {
      why: "the database role may not use the schema",
      grants: [`grant usage on schema ${quoteIdentifier(schema)} to ${role};`],
    };
  }
  if (readable) return undefined;
  return {
    why: "the database role may not select from it",
    grants: [`grant select${isTable(relation) ? ", update" : ""} on ${identifier} to ${role};`],
  };
}

const KINDS: Readonly<Record<string, string>> = {
  v: "view",
  m: "materialised view",
  f: "foreign table",
};

function explainView(relation: Relation, schemas: readonly string[]): Reason {
  const print = (policy: object) =>
    printEntry(relation, { expose: true, ...policy, primary_key: ["…"] }, schemas);
  return {
    why: `${KINDS[relation.kind]} that the policy does not expose`,
    entries: relation.hasTenant
      ? [print({})]
      : [print({ tenant_column: "…" }), `${print({ shared: true })}${SHARED}`],
  };
}

function isTable({ kind }: Relation): boolean {
  return kind === "r" || kind === "p";
}

function printPath(relation: Relation, key: ForeignKey, schemas: readonly string[]): string {
  const { columns, schema, target: name } = key;
  const parent = { schema, name };
  const entry = { tenant_via: { columns, table: keyOf(parent, schemas) } };
  return `${printEntry(relation, entry, schemas)}    -- if its rows belong to those of ${
    callTable(parent, schemas)
  }`;
}

function printEntry(relation: StoredName, policy: object, schemas: readonly string[]): string {
  return JSON.stringify({ tables: { [keyOf(relation, schemas)]: policy } });
}

type StoredName = Pick<Relation, "schema" | "name">;

/** How the policy names a table. */
function keyOf({ schema, name }: StoredName, [first]: readonly string[]): string {
  return schema === first ? name : `${schema}.${name}`;
}

/**
 * Finds the foreign keys that lead to a tenant: to a table that has one, or to another hidden table with
 * such a key, which is nearer to it.
 */
function findPaths(
  hidden: readonly Relation[],
  catalogue: Catalogue,
): ReadonlyMap<Relation, readonly ForeignKey[]> {
  const reached = new Set<string>(
    [...catalogue.tables.values()].filter(({ tenancy }) => tenancy !== undefined)
      .map(({ identifier }) => identifier),
  );
  const paths = new Map<Relation, readonly ForeignKey[]>();
  for (let found = true; found;) {
    const nearest = hidden.filter((relation) => !paths.has(relation))
      .map((relation) => [relation, relation.foreignKeys.filter(leadsTo(reached))] as const)
      .filter(([, keys]) => keys.length > 0);
    for (const [relation, keys] of nearest) paths.set(relation, keys);
    for (const [{ schema, name }] of nearest) reached.add(qualifyTable(schema, name));
    found = nearest.length > 0;
  }
  return paths;
}

function leadsTo(reached: ReadonlySet<string>) {
  return ({ schema, target }: ForeignKey) => reached.has(qualifyTable(schema, target));
}

async function readRelations(
  database: Database,
  { schemas, tenantColumn }: HiddenOptions,
): Promise<readonly Relation[]> {
  const [row] = await database.run<{ found: string }>(
    (sql) =>
      sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
          'schema', n.nspname, 'name', c.relname, 'kind', c.relkind,
          'identifier', pg_catalog.format('%I.%I', n.nspname, c.relname),
          'usable', pg_catalog.has_schema_privilege(n.oid, 'USAGE'),
          'readable', pg_catalog.has_any_column_privilege(c.oid, 'SELECT'),
          'hasTenant', exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid
            and a.attname = ${tenantColumn}::text and not a.attisdropped),
          'role', pg_catalog.quote_ident(current_user),
          'foreignKeys', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
              'columns', (select pg_catalog.json_agg(a.attname order by k.place)
                from unnest(f.conkey) with ordinality k (number, place)
                join pg_catalog.pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.number),
              'schema', m.nspname, 'target', t.relname) order by f.conkey), '[]')
            from pg_catalog.pg_constraint f
            join pg_catalog.pg_class t on t.oid = f.confrelid
            join pg_catalog.pg_namespace m on m.oid = t.relnamespace
            where f.conrelid = c.oid and f.contype = 'f' and f.conparentid = 0 and f.convalidated
              and (pg_catalog.to_jsonb(f) ->> 'conperiod') is distinct from 'true'
              and m.nspname = any (${printArray(schemas)}::text::text[])))
          order by s.place, c.relname), '[]')::text as found
        from unnest(${printArray(schemas)}::text::text[]) with ordinality s (name, place)
        join pg_catalog.pg_namespace n on n.nspname = s.name
        join pg_catalog.pg_class c on c.relnamespace = n.oid
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition`,
    { write: false },
  );
  return JSON.parse(row!.found);
}
