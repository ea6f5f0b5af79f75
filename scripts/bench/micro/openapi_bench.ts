/**
 * What the OpenAPI document of a token with 500 tables of 40 columns costs: `deno task bench:micro`. It
 * is made once for all tokens that may use the same. If it takes more than 200 ms of CPU each time, the
 * benchmark fails.
 * @see H26
 */
import process from "node:process";
import { printOpenApi } from "../../../src/interface/print_openapi.ts";
import { makeManyTables, NAMES } from "../../../test/support/many_table_catalogue.ts";
import { makeAccess } from "../../../test/support/table.ts";

const CATALOGUE = makeManyTables({ columns: 40, comments: true, feeds: true });

const LIMIT_MS = 200;
const ENOUGH = 5;
const allMs: number[] = [];

Deno.bench("OpenAPI of 500 tables", () => {
  // A document is kept with its catalogue.
  const catalogue = { ...CATALOGUE };
  const started = process.cpuUsage();
  printOpenApi(catalogue, makeAccess({ tables: NAMES }));
  const { user, system } = process.cpuUsage(started);
  allMs.push((user + system) / 1000);
  const leastMs = Math.min(...allMs);
  if (allMs.length >= ENOUGH && leastMs > LIMIT_MS) {
    throw new Error(`It takes ${leastMs} ms of CPU, more than ${LIMIT_MS}`);
  }
});
