import type { Table } from "../../../catalogue/catalogue.ts";
import { MAX_DETAILED_TABLES } from "../../../basics/errors/limits.ts";

/**
 * How much a document describes of each table. `full`: everything. `brief`: each operation by what
 * all tables share, with the types of records and of new values. `terse`: only queries and updates of
 * one record, with the types of records and the names of columns that updates set; other operations
 * are described once for all tables.
 */
export type Brevity = "full" | "brief" | "terse";

/** Measured size of a brief document in characters, with names of 8 to 10 characters. */
const OF_A_TABLE = 3100;
const OF_A_COLUMN = 95;
const OF_A_FEED = 1010;
/** The punctuation around a comment. */
const OF_A_COMMENT = 17;
const MAX_BRIEF_CHARACTERS = 1_950_000;

/** Chooses how much to describe, so that the document of 500 tables stays below 2 MB. @see H26 */
export function chooseBrevity(tables: readonly Table[]): Brevity {
  if (tables.length <= MAX_DETAILED_TABLES) return "full";
  let characters = 0;
  for (const { columns, feed } of tables) {
    characters += OF_A_TABLE + columns.size * OF_A_COLUMN + (feed === undefined ? 0 : OF_A_FEED);
    for (const { comment } of columns.values()) {
      if (comment !== null) characters += comment.length + OF_A_COMMENT;
    }
  }
  return characters <= MAX_BRIEF_CHARACTERS ? "brief" : "terse";
}
