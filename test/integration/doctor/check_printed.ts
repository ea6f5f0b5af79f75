import { assert, assertEquals } from "@std/assert";
import { qualify } from "../../../src/database/postgres/qualify.ts";

const PIN = "set search_path = pg_catalog, pg_temp;";
/** What a definition can look up through the search path, besides tables. */
const LOOKED_UP =
  /(?<![.\w])[a-z_]+\((?! *\))|::(?!pg_catalog)|(?<!pg_catalog\.)\b\w+_ops\b|collate (?!pg_catalog)|type (?!pg_catalog)| where /i;

/**
 * Fails if the owner of a database, on whose search path another role has planted something, should not
 * run what is printed: queries name the schema of whatever they use, and definitions with expressions
 * stand below a search path of their own.
 */
export function checkPrinted(fix: string): void {
  let pinned = false;
  for (const line of fix.split("\n")) {
    if (line === PIN) pinned = true;
    else if (line === "reset search_path;") pinned = false;
    else if (/^(?:select|with|delete) /.test(line)) {
      const [statement] = line.split(";    --");
      assertEquals(qualify(statement!), statement);
    } else if (/^(?:create|alter|comment) .*;/.test(line) && !pinned) {
      const [statement] = line.split(";    --");
      const bare = statement!.replaceAll(/E?'(?:[^']|'')*'/g, "''").replaceAll(
        /"(?:[^"]|"")*"/g,
        "x",
      );
      assert(!LOOKED_UP.test(bare), line);
    }
  }
  assert(!pinned, fix);
}
