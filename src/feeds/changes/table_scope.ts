import type { Column, Table } from "../../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../../catalogue/quote_identifier.ts";
import { imagesOf } from "../../records/plan/row_filter.ts";
import { sha256 } from "../../basics/text/sha256.ts";
import type { Shape } from "./position.ts";

const DIGESTS = new WeakMap<Table, string>();

/**
 * Names the state of a feed and what clients see of its table: the row filter and the columns. A copy
 * that was made with another filter would keep rows for ever that are out of sight now.
 * @see CH13
 */
export function shapeOf({ shape }: Shape, table: Table): string {
  return `${shape}.${digestOf(table)}`;
}

/**
 * Reports whether a position was given for the same state and view of a table. One of an earlier version
 * does not say what was seen, which matters only where a row filter may have come.
 */
export function hasShape(position: string, shape: Shape, table: Table): boolean {
  return position === shapeOf(shape, table) ||
    table.only === undefined && table.rowSecurity === undefined && position === shape.shape;
}

/** Reports whether a position was given for what clients see of the table now. */
export function hasView(position: string, table: Table): boolean {
  return position.endsWith(`.${digestOf(table)}`);
}

function digestOf(table: Table): string {
  const known = DIGESTS.get(table);
  if (known !== undefined) return known;
  const rows = [table.only?.group ?? null, table.rowSecurity?.condition ?? null];
  const view = [...rows, [...table.columns.keys()].sort()];
  const digest = sha256(JSON.stringify(view)).slice(0, 12);
  DIGESTS.set(table, digest);
  return digest;
}

/**
 * Reports whether a feed that logs these columns can tell which rows of its table clients saw.
 * @see CH25
 */
export function logsView(logged: readonly string[], table: Table): boolean {
  return explainUnseen(table) === undefined && hasImages(logged, imagesOf(table));
}

/** Explains why no feed can tell which rows of a table the role saw; undefined if one can. @see CH25 */
export function explainUnseen({ rowSecurity }: Table): string | undefined {
  return rowSecurity?.condition === undefined ? undefined : rowSecurity.obstacle;
}

/**
 * Explains what the policies of a table read that leaves no trace in its log, whether they apply to the
 * role or not; undefined if there is nothing.
 * @see CH25
 */
export function explainReach({ rowSecurity }: Table): string | undefined {
  if (rowSecurity?.obstacle !== undefined) {
    return `${rowSecurity.obstacle}: a role to which it applies cannot read the feed`;
  }
  return rowSecurity?.callsFunctions
    ? "a policy calls functions: the feed does not notice when other tables or the time change what they return"
    : undefined;
}

/** Reports whether a feed logs all that decides which rows of its table clients see. @see CH25 */
export function hasImages(
  logged: readonly string[],
  images: readonly Pick<Column, "identifier">[],
): boolean {
  return images.every(({ identifier }) => logged.includes(unquoteIdentifier(identifier)));
}
