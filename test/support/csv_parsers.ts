import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** Parses CSV into rows of texts. */
export type ParseCsv = (text: string) => string[][];

const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));

/**
 * Loads two parsers of CSV that others have written, by their names; `scripts/make_programs.ts` says
 * which tests have them installed.
 */
export function loadCsvParsers(): readonly (readonly [string, ParseCsv])[] {
  const load = createRequire(PACKAGES);
  const { parse } = load("csv-parse/sync") as {
    parse: (text: string, options: object) => string[][];
  };
  const papaparse = load("papaparse") as {
    parse: (text: string) => { data: string[][]; errors: readonly { code: string }[] };
  };
  return [
    ["csv-parse", (text) => parse(text, { relax_column_count: false })],
    ["papaparse", (text) => {
      const { data, errors } = papaparse.parse(text);
      const found = errors.filter(({ code }) => code !== "UndetectableDelimiter");
      if (found.length > 0) throw new Error(JSON.stringify(found));
      // What stands behind the last line end is a row of its own to it.
      return data.slice(0, -1);
    }],
  ];
}
