import type { Compile, Database } from "../database/postgres/database.ts";
import { DatabaseError, isTransient } from "../database/postgres/database_error.ts";
import type { Row, Sql } from "../database/postgres/driver.ts";
import { printArray } from "../basics/text/array_text.ts";
import type { FoundTable, Introspection } from "./introspection.ts";
import type { SqlText } from "./catalogue.ts";
import { literal } from "./literal.ts";
import { qualifyTable, quoteIdentifier } from "./quote_identifier.ts";
import { REFUSALS, type Tried, tryUpdate } from "./try_update.ts";

/** The results of trying the engines of tables. */
export interface Probed {
  readonly found: Introspection;
  /** False if the database could not answer now, and has to be asked again. */
  readonly complete: boolean;
}

/** Postgres's own engine, which can do everything. */
const HEAP = "heap";
/** Marks a foreign table in the list of engines. */
const FOREIGN = "";

/**
 * Finds out what tables with rows outside of Postgres's own heap support: whether they can be
 * updated, whether a row version can be pinned, and which column decides on which server a row is. It
 * tries statements with EXPLAIN, which plans them and runs nothing: no row is read, no trigger fires.
 * One table of each engine is tried; in an ordinary schema there is none. If EXPLAIN shows nothing, a
 * row of a temporary table is updated.
 *
 * Tables that are closed cannot be updated either, as an update has shown.
 * @see M24
 */
export async function probeEngines(
  database: Database,
  found: Introspection,
  isClosed: (table: FoundTable) => boolean = () => false,
): Promise<Probed> {
  let complete = true;
  const attempt = async <R extends Row>(
    compile: Compile<R>,
  ): Promise<R[] | "refused" | undefined> => {
    try {
      return await database.run(compile, { write: false, ofPrimary: true });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (REFUSALS.has(error.code)) return "refused";
      if (isTransient(error)) complete = false;
      return undefined;
    }
  };
  const tried = new Map<string, Promise<Tried>>();
  const update = async (engine: string): Promise<Tried> => {
    const trial = tried.get(engine) ?? tryUpdate(database, engine);
    tried.set(engine, trial);
    if (await trial === "unavailable") complete = false;
    return await trial;
  };
  const distributions = found.distributes ? await readDistributions(attempt) : NONE;
  const other = found.tables.filter(({ engines }) => engines !== null);
  const readOnly = await findReadOnly(attempt, other);
  const abilities = new Map<string, Promise<Ability>>();
  const tables = await Promise.all(found.tables.map(async (table): Promise<FoundTable> => {
    const distribution = distributions.get(nameOf(table));
    if (table.engines === null && distribution === undefined) return table;
    const engine = JSON.stringify([table.engines, distribution !== undefined]);
    const ability = abilities.get(engine) ?? tryEngine({ attempt, update }, table);
    if (!abilities.has(engine) && pickColumn(table) !== undefined) abilities.set(engine, ability);
    const { updatable, pinnable, isSure } = await ability;
    return {
      ...table,
      updatable: table.updatable && updatable && !readOnly.has(nameOf(table)) && !isClosed(table),
      pinnable: table.pinnable && pinnable,
      mayRefuse: !isSure,
      distribution,
    };
  }));
  return { found: { ...found, tables }, complete };
}

type Attempt = <R extends Row>(compile: Compile<R>) => Promise<R[] | "refused" | undefined>;

/** How engines are tried. */
interface Trial {
  readonly attempt: Attempt;
  /** Updates a row of an access method. */
  readonly update: (engine: string) => Promise<Tried>;
}

interface Ability {
  readonly updatable: boolean;
  readonly pinnable: boolean;
  /** False if only an update may show that no row can be updated. */
  readonly isSure: boolean;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns the name of a table in statements. */
function nameOf({ schema, name }: FoundTable): SqlText {
  return qualifyTable(schema, name);
}

/**
 * Reads the distribution columns, which the database keeps as the text of a Postgres node with the
 * number of the column.
 */
async function readDistributions(attempt: Attempt): Promise<ReadonlyMap<string, string>> {
  const rows = await attempt<{ name: string; column: string }>((sql) =>
    sql`select pg_catalog.format('"%s"."%s"', pg_catalog.replace(n.nspname, '"', '""'),
      pg_catalog.replace(c.relname, '"', '""')) as name, coalesce(a.attname::text, '') as column
    from pg_catalog.pg_dist_partition d
    join pg_catalog.pg_class c on c.oid = d.logicalrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid
      and a.attnum = (pg_catalog.regexp_match(d.partkey::text, ':varattno ([0-9]+)'))[1]::int2`
  );
  return Array.isArray(rows) ? new Map(rows.map(({ name, column }) => [name, column])) : NONE;
}

/** Returns the names of tables whose rows are all in foreign tables that do not allow updates. */
async function findReadOnly(
  attempt: Attempt,
  tables: readonly FoundTable[],
): Promise<ReadonlySet<string>> {
  const foreign = tables.filter(({ engines }) => engines!.every((engine) => engine === FOREIGN));
  if (foreign.length === 0) return new Set();
  const names = printArray(foreign.map(nameOf));
  const rows = await attempt<{ name: string }>((sql) =>
    sql`with recursive parts (name, oid) as (
      select f.name, pg_catalog.to_regclass(f.name)::oid
      from pg_catalog.unnest(${names}::text::text[]) f (name)
      union all
      select p.name, h.inhrelid from parts p
      join pg_catalog.pg_inherits h on h.inhparent = p.oid
    )
    select p.name from parts p join pg_catalog.pg_class c on c.oid = p.oid and c.relkind = 'f'
    group by p.name
    having pg_catalog.bool_and(pg_catalog.pg_relation_is_updatable(c.oid, false) & 4 = 0)`
  );
  return new Set(Array.isArray(rows) ? rows.map(({ name }) => name) : []);
}

/**
 * Tries the engine of a table. One with some rows in the heap, or in foreign tables, can be updated
 * at least in part.
 */
async function tryEngine({ attempt, update }: Trial, table: FoundTable): Promise<Ability> {
  const column = pickColumn(table);
  const engines = table.engines ?? [HEAP];
  const isMixed = engines.some((engine) => engine === FOREIGN) ||
    engines.length > 1 && engines.includes(HEAP);
  const name = nameOf(table);
  const explain = (sql: Sql) => {
    const field = literal(sql, quoteIdentifier(column!));
    return sql`explain update ${literal(sql, name)} set ${field} = ${field}`;
  };
  const read = (sql: Sql) => sql`explain select ctid, xmin, tableoid from ${literal(sql, name)}`;
  const planned = column === undefined || isMixed ? undefined : await attempt(explain);
  const own = isMixed || planned === "refused" ? [] : engines.filter((engine) => engine !== HEAP);
  const updates = await Promise.all(own.map(update));
  const pinned = table.pinnable ? await attempt(read) : undefined;
  return {
    updatable: planned !== "refused" &&
      (updates.length === 0 || updates.some((tried) => tried !== "refused")),
    pinnable: pinned !== "refused",
    isSure: updates.length === 0 || updates.includes("updated"),
  };
}

function pickColumn({ columns }: FoundTable): string | undefined {
  return columns.find(({ select, update, generated, identity }) =>
    select && update && !generated && !identity
  )?.name;
}
