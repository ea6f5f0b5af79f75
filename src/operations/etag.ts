import type { Table } from "../catalogue/catalogue.ts";

/** The first number of an FNV-1a hash, and its factor. */
const FNV = { start: 0x811c9dc5, factor: 0x01000193 };
const SHAPES = new WeakMap<Table, string>();

/**
 * Prints the ETag of a record: the version of its row, and the columns that clients see, so that a client
 * with an older record gets the new one when a column was added without a write.
 * @see OR8, OR10
 */
export function printEtag(table: Table, version: string): string {
  return `"${version}-${describeShape(table)}"`;
}

/** Returns the version in the opaque part of an ETag; that of any other tag is equal to none. */
export function readVersion(tag: string): string {
  return tag.split("-", 1)[0]!;
}

function describeShape(table: Table): string {
  const known = SHAPES.get(table);
  if (known !== undefined) return known;
  let hash = FNV.start;
  for (const { name, type } of table.columns.values()) {
    for (const character of `${name} ${type},`) {
      hash = Math.imul(hash ^ character.codePointAt(0)!, FNV.factor) >>> 0;
    }
  }
  const shape = hash.toString(16).padStart(8, "0");
  SHAPES.set(table, shape);
  return shape;
}
