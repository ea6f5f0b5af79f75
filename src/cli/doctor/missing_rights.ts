import type { Catalogue, Table } from "../../catalogue/catalogue.ts";
import type { LackingRight } from "../../catalogue/write_gaps.ts";
import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import type { Database } from "../../database/postgres/database.ts";
import { findSchema } from "../../database/schema/find_schema.ts";

/** A right that the role lacks for what clients are meant to do. */
export interface MissingRight {
  /** `insert`, `delete`, `update` of the mark of a soft delete, or `usage` of a sequence. */
  readonly right: LackingRight["right"] | "usage";
  readonly table: string;
  /** What the role may not do, and who expects it. */
  readonly what: string;
  readonly why: string;
  /** The statement that grants it. */
  readonly grant: string;
}

const VERBS = {
  insert: ["insert into", "create"],
  delete: ["delete from", "delete"],
  update: ["mark rows as deleted in", "delete"],
} as const;

/**
 * Finds the rights that the role lacks: to create and delete where the policy or the scopes of tokens
 * expect it, and to use the sequences of tables in which clients can create records.
 * @see R70
 */
export async function findMissingRights(
  database: Database,
  { tables }: Pick<Catalogue, "tables">,
): Promise<readonly MissingRight[]> {
  const all = [...tables.values()];
  const lacking = all.flatMap((table) =>
    (table.gaps?.rights ?? []).map((each) => ({ table, ...each }))
  );
  const { role, tokens, sequences } = await readRights(database, all);
  const to = quoteIdentifier(role);
  const missing = lacking.flatMap(({ table, right, column, isAsked }): MissingRight[] => {
    const token = tokens.find((each) => each.right === right && expects(each, table, all));
    const expectedBy = isAsked ? "the policy" : token && `the token ${token.id}`;
    if (expectedBy === undefined) return [];
    const [verb, deed] = VERBS[right];
    return [{
      right,
      table: table.name,
      what: `the database role may not ${verb} ${table.name}`,
      why: `${expectedBy} allows clients to ${deed} records there, and each request is 403`,
      grant: `grant ${right}${
        column === undefined ? "" : ` (${quoteIdentifier(column)})`
      } on ${table.identifier} to ${to};`,
    }];
  });
  return [
    ...missing,
    ...sequences.map(({ table, column, sequence }) => ({
      right: "usage" as const,
      table,
      what: `the database role may not use the sequence of ${table}.${column}`,
      why: "a new record that leaves the column out is refused",
      grant: `grant usage on sequence ${sequence} to ${to};`,
    })),
  ];
}

/** One of the rights that a valid token expects; null: on all tables. */
interface Expectation {
  readonly id: string;
  readonly right: LackingRight["right"];
  readonly tables: readonly string[] | null;
}

/** A token of all tables expects the right on one of them at least. */
function expects(
  { right, tables: named }: Expectation,
  { name }: Table,
  tables: readonly Table[],
): boolean {
  if (named !== null) return named.includes(name);
  return !tables.some((table) => right === "insert" ? table.creatable : table.deletable);
}

interface Rights {
  /** The role of the session. */
  readonly role: string;
  /** Empty where the role may not read them. */
  readonly tokens: readonly Expectation[];
  /** Sequences of defaults that the role may not use; qualified and quoted. */
  readonly sequences: readonly {
    readonly table: string;
    readonly column: string;
    readonly sequence: string;
  }[];
}

async function readRights(database: Database, tables: readonly Table[]): Promise<Rights> {
  const { readsTokens } = await findSchema(database);
  const creatable = tables.filter((table) => table.creatable)
    .map(({ name, identifier }) => ({ name, identifier }));
  const [row] = await database.run<{ found: string }>(
    (sql) =>
      sql`select pg_catalog.json_build_object('role', current_user, 'tokens', ${
        readsTokens
          ? sql`(select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
                'id', t.id, 'tables', t.tables,
                'right', case s.scope when 'create' then 'insert' else 'delete' end)
                order by t.number, s.scope), '[]')
              from rowgate.tokens t cross join unnest(t.scopes) s (scope)
              where s.scope in ('create', 'delete') and t.revoked_at is null
                and (t.expires_at is null or t.expires_at > now()))`
          : sql`'[]'::text::json`
      }, 'sequences', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
            'table', w.name, 'column', a.attname,
            'sequence', pg_catalog.format('%I.%I', n.nspname, c.relname))
            order by w.name, a.attnum), '[]')
          from pg_catalog.json_to_recordset(${JSON.stringify(creatable)}::text::json)
            w (name text, identifier text)
          join pg_catalog.pg_attrdef d on d.adrelid = pg_catalog.to_regclass(w.identifier)
          join pg_catalog.pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
          join pg_catalog.pg_depend p on p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
            and p.objid = d.oid and p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
          join pg_catalog.pg_class c on c.oid = p.refobjid
          join pg_catalog.pg_namespace n on n.oid = c.relnamespace
          where a.attidentity = '' and case c.relkind
            when 'S' then not pg_catalog.has_sequence_privilege(c.oid, 'USAGE') else false end
        ))::text as found`,
    { write: false },
  );
  return JSON.parse(row!.found);
}
