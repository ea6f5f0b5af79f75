import { assertEquals } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";

const BREAKS =
  / (?=from |where |order by |and \(?"|or "|limit |returning |"\$[a-z]" as |select \(|\(select \(|else )/g;

/**
 * Compares a statement with its golden file, which is broken into lines for its readers; with
 * `ROWGATE_WRITE_GOLDEN=1` the file is written anew, to be looked at before it is committed.
 */
export async function compareGolden(title: string, statement: string): Promise<void> {
  const file = new URL(`./golden/${title.replaceAll(/[ ,]+/g, "_")}.sql`, import.meta.url);
  if (process.env.ROWGATE_WRITE_GOLDEN === "1") {
    await writeFile(file, `${statement.replaceAll(BREAKS, "\n")}\n`);
  }
  const golden = await readFile(file, "utf8");
  assertEquals(statement, golden.trimEnd().replaceAll("\n", " "));
}
