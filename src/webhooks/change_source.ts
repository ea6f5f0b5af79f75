import type { Table } from "../catalogue/catalogue.ts";
import type { Access } from "../tokens/token.ts";

/** Where a webhook reads on in the feed of a table. */
export interface ReadPosition {
  readonly access: Access;
  readonly table: Table;
  readonly cursor: string;
  readonly limit: number;
  /** True: records have the columns of the key and no others. */
  readonly keyOnly: boolean;
}

/** The next changes of a table. */
export interface ReadChanges {
  /** A JSON array, as clients of the feed get it. */
  readonly changes: string;
  readonly count: number;
  /** Where the changes after these begin: to be kept even if there were none. */
  readonly cursor: string;
  /** True when there are more already, even if there were none now. */
  readonly more: boolean;
}

/** What webhooks need of the changes feed. */
export interface ChangeSource {
  /**
   * Gives where changes from now on begin.
   * @throws {ApiError} 404 the table has no feed
   */
  readonly begin: (access: Access, table: Table) => Promise<string>;
  /**
   * Reads the next changes, none if there are none yet.
   * @throws {ApiError} 404 the table has no feed; 410 the cursor is too old, or of another database;
   * 400 a single record is larger than any answer
   */
  readonly read: (position: ReadPosition) => Promise<ReadChanges>;
  /**
   * Calls back at once, and each time when rows of a tenant may have changed; gives the function that
   * ends it.
   */
  readonly watch: (
    watched: { readonly table: string; readonly tenant: string },
    changed: () => void,
  ) => () => void;
}
