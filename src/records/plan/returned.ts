import type { Column, Table } from "../../catalogue/catalogue.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import type { Access } from "../../access/tokens/token.ts";

/** The row that a response to a write has, as `Prefer: return=representation` asks. @see OR15 */
export interface Returned {
  /** Every column that the client may see. */
  readonly columns: readonly Column[];
  readonly wideNumbersAsText: boolean;
  /** Bytes of a record at most. */
  readonly maxBytes: number;
  /** True: the version of the row goes into the ETag. */
  readonly versioned: boolean;
}

/** What {@link planReturned} depends on. */
export interface ReturnedOptions extends Pick<Returned, "wideNumbersAsText" | "versioned"> {
  readonly table: Table;
  readonly access: Access;
  readonly maxPageBytes: number;
  /** Rows that the response has at most; together they are no longer than a page. */
  readonly rows: number;
}

/**
 * Requires that a token may query: a write that returns its row reads it.
 * @throws {ApiError} 403
 * @see OR18
 */
export function requireQuery({ scopes }: Pick<Access, "scopes">): void {
  if (scopes.includes("query")) return;
  const message =
    'The token does not grant the operation "query", which return=representation needs';
  throw new ApiError(403, message);
}

/**
 * Plans the row that a write returns.
 * @throws {ApiError} 403
 * @see OR15
 */
export function planReturned(
  { table, access, maxPageBytes, rows, ...others }: ReturnedOptions,
): Returned {
  requireQuery(access);
  const maxBytes = Math.floor(maxPageBytes / rows);
  return { columns: [...table.columns.values()], maxBytes, ...others };
}
