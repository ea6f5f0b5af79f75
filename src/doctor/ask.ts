import { printArray } from "../text/array_text.ts";
import type { Compile, Database } from "../postgres/database.ts";
import type { TenantTable } from "./diagnosis.ts";

/**
 * Runs a statement that reads Postgres's own catalogue and gives the JSON of its one column `found`.
 * @throws {ApiError} as the database rejects
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
