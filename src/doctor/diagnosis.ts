import type { Catalogue, Table } from "../catalogue/catalogue.ts";
import type { Dependencies } from "../app.ts";
import { printArray } from "../text/array_text.ts";
import type { Compile, Database } from "../postgres/database.ts";

/** Something that is not as it should be. */
export interface Finding {
  /** `error`: rows can be seen or changed by the wrong one, or be lost; `warning`: all else. */
  readonly level: "error" | "warning";
  readonly what: string;
  readonly why: string;
  /** What to type, or to do where nothing can be typed. */
  readonly fix: string;
}

/** What one check saw. */
export interface Diagnosis {
  /** In a few words, for a person who wonders whether anything was looked at. */
  readonly seen: string;
  readonly findings: readonly Finding[];
}

/** All that is looked at: the database as the serving role sees it, and what would serve it. */
export interface Setup extends Omit<Dependencies, "tokens" | "catalogue"> {
  readonly catalogue: Catalogue;
  /** The same catalogue, for the code that serves. */
  readonly following: Dependencies["catalogue"];
  /** Processes that serve, by the settings. */
  readonly workers: number;
  /** Hears what is being looked at, table by table. */
  readonly progress: (what: string) => void;
}

/** One question to the set-up; reads, and changes nothing. */
export interface Check {
  readonly name: string;
  /** @throws {DatabaseError} */
  readonly look: (setup: Setup) => Promise<Diagnosis>;
}

/** A table that has a tenant column. */
export type TenantTable = Table & { readonly tenant: NonNullable<Table["tenant"]> };

/** Gives the tables of tenants, without the shared ones. */
export function listTenantTables({ catalogue }: Setup): readonly TenantTable[] {
  return [...catalogue.tables.values()].filter((table): table is TenantTable =>
    table.tenant !== undefined
  );
}

/** `1 table`, `2 tables`. */
export function count(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? "" : "s"}`;
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

/** Asks one question of yes and no, of a statement with one column `found`. */
export async function askTruth(
  database: Database,
  compile: Compile<{ found: string }>,
): Promise<boolean> {
  const [row] = await database.run(compile, { write: false });
  return row!.found === "true";
}

/** Gives names of tables and of their tenant columns as two arrays of Postgres, side by side. */
export function printTenants(tables: readonly TenantTable[]): readonly [string, string] {
  return [
    printArray(tables.map(({ name }) => name)),
    printArray(tables.map(({ tenant }) => tenant.name)),
  ];
}
