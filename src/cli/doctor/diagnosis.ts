import type { Catalogue, Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import { quoteIdentifier } from "../../catalogue/quote_identifier.ts";
import type { Dependencies } from "../../app.ts";
import type { Compile, Database } from "../../database/postgres/database.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { join, literal } from "../../records/sql/fragment.ts";

/** A problem of the set-up. */
export interface Finding {
  /** The id by which the policy can accept it: the check, and the object if there are several. */
  readonly id: string;
  /** `error`: rows can be read or changed by the wrong tenant, or lost; `warning`: anything else. */
  readonly level: "error" | "warning";
  readonly what: string;
  readonly why: string;
  /** The command or statement to run, or advice if there is none. */
  readonly fix: string;
}

/** A finding that the policy accepts, and why. @see R53 */
export type AcceptedFinding = Finding & { readonly reason: string };

/** The result of a check. */
export interface Diagnosis {
  /** What was examined, in a few words. */
  readonly seen: string;
  readonly findings: readonly Finding[];
  /** Findings that the policy accepts; they are not in `findings`. */
  readonly accepted?: readonly AcceptedFinding[];
}

/** What is examined: the database as the serving role sees it, and the service on top of it. */
export interface Setup extends Omit<Dependencies, "tokens" | "catalogue"> {
  readonly catalogue: Catalogue;
  /** The same catalogue, for the service itself. */
  readonly currentCatalogue: Dependencies["catalogue"];
  /** Number of processes that serve, from the settings. */
  readonly workers: number;
  /** What the policy accepts, by the id of the finding. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Takes what is being examined, table by table. */
  readonly progress: (what: string) => void;
}

/** One question about the setup; it only reads. */
export interface Check {
  readonly name: string;
  /** @throws {DatabaseError} */
  readonly examine: (setup: Setup) => Promise<Diagnosis>;
}

/** A table whose tenant is in columns of its own, in one or in several. */
export type TenantTable = Table & { readonly tenancy: NonNullable<Table["tenancy"]> };

/** Returns the tables that are neither shared nor belong to another table. */
export function listTenantTables(
  { catalogue }: Pick<Setup, "catalogue">,
): readonly TenantTable[] {
  return [...catalogue.tables.values()].filter((table): table is TenantTable =>
    table.tenancy !== undefined && table.tenancy.via.length === 0
  );
}

/** Finds a column by the name that the database has. */
export function findStoredColumn({ columns }: Table, name: string): Column | undefined {
  const identifier = quoteIdentifier(name);
  return [...columns.values()].find((column) => column.identifier === identifier);
}

/**
 * Reports whether updates cannot make a row refer to another tenant's: they check the key, or no update
 * can set it because it cannot be checked.
 * @see T83, T85
 */
export function isReferenceChecked(
  table: Table,
  columns: readonly string[],
  target: Pick<Table, "identifier">,
): boolean {
  const isBlocked = columns.some((name) => findStoredColumn(table, name)?.readOnly === "reference");
  return isBlocked ||
    table.references.some(({ via: [first] }) =>
      first!.identifier === target.identifier &&
      first!.columns.every((column) => columns.includes(column))
    );
}

/** Says why a key that updates do not check is a risk. */
export function describeUnchecked(columns: readonly string[]): string {
  return "the policy names it in cross_tenant_columns: whether an update of " +
    `${
      columns.join(", ")
    } succeeds depends on rows of other tenants, which reveals that they exist`;
}

/** Prints an entry of the policy file for a table. */
export function printPolicy({ stored }: Table, entry: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ tables: { [stored.policyKey]: entry } });
}

/** Prints a comment on one line. A line break in a name would make the rest of the comment run. */
export function remark(text: string): string {
  return `-- ${text.replace(/[\r\n]+/g, " ")}`;
}

/** Prints the names of schemas: `schema public`, `schemas public, sales`. */
export function describeSchemas(schemas: readonly string[]): string {
  return `schema${schemas.length === 1 ? "" : "s"} ${schemas.join(", ")}`;
}

/** Prints a number and its noun: `1 table`, `2 tables`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * Runs a statement that reads Postgres's own catalogue and gives the JSON of its one column `found`.
 * @throws {DatabaseError}
 */
export async function askJson<T>(
  database: Database,
  compile: Compile<{ found: string }>,
): Promise<T> {
  const [row] = await database.run(compile, { write: false });
  return JSON.parse(row!.found) as T;
}

/** Runs a statement with one boolean column `found`, as text, and gives its value. */
export async function askTruth(
  database: Database,
  compile: Compile<{ found: string }>,
): Promise<boolean> {
  const [row] = await database.run(compile, { write: false });
  return row!.found === "true";
}

/** Describes a server that a setting names and that does not answer. */
export function describeSilent(
  server: string,
  { id, setting, why }: { readonly id: string; readonly setting: string; readonly why: string },
): Finding {
  return {
    id,
    level: "warning",
    what: `${server} of ${setting} does not answer`,
    why,
    fix: `check that it runs, and that the role may log in there (pg_hba.conf of ${server})`,
  };
}

/** Reports whether a table has a row with NULL in one of the columns, which are named as stored. */
export function hasNulls(
  { database }: Pick<Setup, "database">,
  { identifier, columns }: { readonly identifier: SqlText; readonly columns: readonly string[] },
): Promise<boolean> {
  return askTruth(database, (sql) => {
    const tests = columns.map((name) => sql`"$t".${literal(sql, quoteIdentifier(name))} is null`);
    return sql`select exists (select from ${literal(sql, identifier)} "$t"
      where ${join(sql, "or", tests)})::text as found`;
  });
}

/**
 * Compiles the tables of the catalogue for a FROM: `wanted (name, oid, tenants)`, with the name for
 * clients and the tenant columns as JSON.
 */
export function compileTables(sql: Sql, tables: readonly Table[]): Fragment {
  const wanted = tables.map(({ name, identifier, tenancy }) => ({
    name,
    identifier,
    tenants: tenancy?.columns.map((column) => column.name) ?? [],
  }));
  return sql`(
    select w.name, pg_catalog.to_regclass(w.identifier) as oid, w.tenants
    from pg_catalog.json_to_recordset(${JSON.stringify(wanted)}::text::json)
      w (name text, identifier text, tenants json)) wanted`;
}
