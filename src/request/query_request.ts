import type { Group } from "./filter.ts";

/** One key of the ordering, as the client wrote it. @see spec 2 */
export interface SortItem {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

/** A query whose shape is right; names and values are still the client's words. @see spec 4.1 */
export interface QueryRequest {
  readonly filters: Group | undefined;
  /** Empty: all columns. */
  readonly select: readonly string[];
  readonly sort: readonly SortItem[];
  /** From 1. */
  readonly page: number;
  /** Rows per page in effect, 1 to 200. */
  readonly perPage: number;
  /** The parsed body, for the order of later issues. */
  readonly document: unknown;
}
