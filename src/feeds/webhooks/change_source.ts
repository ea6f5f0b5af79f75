import type { Table } from "../../catalogue/catalogue.ts";
import type { Access } from "../../access/tokens/token.ts";

/** Where a webhook continues to read the feed of a table, and what it reads. */
export interface ReadPosition {
  readonly access: Access;
  readonly table: Table;
  readonly cursor: string;
  readonly limit: number;
  /** True: records have only the columns of the key. */
  readonly keyOnly: boolean;
}

/** The next changes of a table. */
export interface ReadChanges {
  /** A JSON array, as clients of the feed get it. */
  readonly changes: string;
  readonly count: number;
  /** The position after these changes, to be stored even if there were none. */
  readonly cursor: string;
  /** True if more changes are available now, even if this page has none. */
  readonly more: boolean;
}

/** What webhooks need of the changes feed. */
export interface ChangeSource {
  /**
   * Returns the position at which changes from now on begin.
   * @throws {ApiError} 404 the table has no feed
   */
  readonly begin: (access: Access, table: Table) => Promise<string>;
  /**
   * Reads the next changes, of which there may be none.
   * @throws {ApiError} 404 the table has no feed; 410 the cursor is too old, or of another database;
   * 400 a single record is larger than any answer
   */
  readonly read: (position: ReadPosition) => Promise<ReadChanges>;
  /** Reports whether a cursor was given for what the token sees of the table now. */
  readonly isOfView: (
    position: Pick<ReadPosition, "access" | "table" | "cursor">,
  ) => Promise<boolean>;
  /**
   * Calls back at once, and whenever rows of a tenant may have changed; returns the function that
   * ends the watch.
   */
  readonly watch: (
    watched: { readonly table: string; readonly tenant: string },
    changed: () => void,
  ) => () => void;
}
