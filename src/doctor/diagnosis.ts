import type { Catalogue, Table } from "../catalogue/catalogue.ts";
import type { Dependencies } from "../app.ts";
import { printArray } from "../text/array_text.ts";
import type { Compile, Database } from "../postgres/database.ts";

/** Something that is not as it should be. */
export interface Finding {
  /** What the policy accepts it by: the question, and the object where there are several. */
  readonly id: string;
  /** `error`: rows can be read or changed by the wrong tenant, or lost; `warning`: anything else. */
  readonly level: "error" | "warning";
  readonly what: string;
  readonly why: string;
  /** The command or statement to run, or what to do where there is none. */
  readonly fix: string;
}

/** A finding that the policy accepts, and why. @see R53 */
export type AcceptedFinding = Finding & { readonly reason: string };

/** The result of a check. */
export interface Diagnosis {
  /** What was examined, in a few words. */
  readonly seen: string;
  readonly findings: readonly Finding[];
  /** Those that the policy accepts; they are not in `findings`. */
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
  readonly look: (setup: Setup) => Promise<Diagnosis>;
}

/** A table that has a tenant column. */
export type TenantTable = Table & { readonly tenant: NonNullable<Table["tenant"]> };

/** Returns the tables that have a tenant column: all but the shared ones. */
export function listTenantTables({ catalogue }: Setup): readonly TenantTable[] {
  return [...catalogue.tables.values()].filter((table): table is TenantTable =>
    table.tenant !== undefined
  );
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

/** Returns the names of tables and of their tenant columns, as two Postgres arrays in the same order. */
export function printTenants(tables: readonly TenantTable[]): readonly [string, string] {
  return [
    printArray(tables.map(({ name }) => name)),
    printArray(tables.map(({ tenant }) => tenant.name)),
  ];
}
