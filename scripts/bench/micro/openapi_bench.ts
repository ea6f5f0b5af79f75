/**
 * What the OpenAPI document of a token with 500 tables of 40 columns costs: `deno task bench:micro`. It
 * is made once for all tokens that may use the same. If it takes more than 200 ms of CPU each time, the
 * benchmark fails.
 * @see H26
 */
import process from "node:process";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { printOpenApi } from "../../../src/interface/print_openapi.ts";
import { makeAccess, makeColumn, makeTable } from "../../../test/support/table.ts";

const TYPES = ["text", "int4", "numeric", "boolean", "uuid", "json", "float8"] as const;
const COLUMNS = Array.from({ length: 40 }, (_, place) => ({
  ...makeColumn(`column_${place}`, TYPES[place % TYPES.length]!),
  comment: `What the column ${place} means, in a sentence`,
}));
const NAMES = Array.from({ length: 500 }, (_, place) => `table_${place}`);
const TABLES = new Map(
  NAMES.map((name) => [name, { ...makeTable(COLUMNS), name, feed: {} }]),
);

const LIMIT_MS = 200;
const ENOUGH = 5;
const allMs: number[] = [];

Deno.bench("OpenAPI of 500 tables", () => {
  const started = process.cpuUsage();
  // A document is kept with its catalogue.
  const catalogue = { tables: TABLES, credentialTables: new Set() } as unknown as Catalogue;
  printOpenApi(catalogue, makeAccess({ tables: NAMES }));
  const { user, system } = process.cpuUsage(started);
  allMs.push((user + system) / 1000);
  const leastMs = Math.min(...allMs);
  if (allMs.length >= ENOUGH && leastMs > LIMIT_MS) {
    throw new Error(`It takes ${leastMs} ms of CPU, more than ${LIMIT_MS}`);
  }
});
