import type {
  Created,
  DeletedBulk,
  DeletedSingle,
  FieldList,
  OneRecord,
  Page,
  TableList,
  TokenAnswer,
  UpdatedBatch,
  UpdatedBulk,
  UpdatedSingle,
  Upserts,
} from "./responses.ts";
import type { Result, RowgateError } from "./errors.ts";
import type {
  AnyTables,
  ColumnOf,
  CreatableOf,
  Equalities,
  Query,
  TablesOf,
  Update,
  Upserted,
  WritableOf,
} from "./tables.ts";

/** Where the service is and how the client talks to it. */
export interface ClientOptions {
  /** The address of the service, with a path if it is not at the root. */
  readonly url: string;
  readonly token: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How many times a request is repeated, if that is safe; default 3. */
  readonly retries?: number | undefined;
  /** How long one attempt may take; default 60. */
  readonly timeoutSeconds?: number | undefined;
  /** True: 64-bit integers and `numeric` arrive as strings, with every digit. */
  readonly wideNumbers?: boolean | undefined;
}

/** Requires `wideNumbers` to have the value with which the types were printed. */
export type WideOption<T> = T[keyof T] extends { readonly wideNumbers: true }
  ? { readonly wideNumbers: true }
  : string extends keyof T ? unknown
  : { readonly wideNumbers?: false | undefined };

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the headers of each response, for `Preference-Applied` or `RateLimit`. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/** Options of a query. */
export interface QueryOptions<C extends boolean = boolean> extends CallOptions {
  /** False: the rows are not counted, and `total` is null. */
  readonly count?: C | undefined;
}

/** Options of a write. */
export interface UpdateOptions extends CallOptions {
  /** If more rows match, the error is 409 and nothing changes. */
  readonly maxAffected?: number;
  /** True: do it, then roll it back. */
  readonly rollback?: boolean;
  /** True: the response has the row, as it is stored now or was before its delete; not on bulk. */
  readonly returning?: boolean;
  /** True: a record that is refused does not undo the others; only on create, upsert and batch. */
  readonly continues?: boolean;
  /** The `ETag` of the row: 412 and no change if it was written since; only on single. */
  readonly ifMatch?: string;
  /**
   * Printable ASCII, at most 255 characters. If the same update is sent with the same key again, even
   * by another process, it gets the first response. Default: a new key for each call, for its own
   * retries.
   */
  readonly idempotencyKey?: string;
}

/** Options of reading one row. */
export interface GetOptions<N extends string> extends CallOptions {
  /** The columns of the record; default: all. */
  readonly select?: readonly N[] | undefined;
}

/** The position of a poller: plain JSON, to be saved and passed back unchanged. */
export type Place = FeedPlace | TimePlace;

/** A place in the changes feed of a table. */
export interface FeedPlace {
  readonly cursor: string;
}

/** A place by time and key, in a table without a feed. */
export interface TimePlace {
  /** The modification time and key of the last row in order. */
  readonly after?: { readonly [column: string]: unknown } | undefined;
  /** Rows modified since then are read again; in milliseconds since 1970. */
  readonly window: number;
  /** Keys and times of the rows in the window that were already yielded. */
  readonly seen: readonly (readonly [key: string, time: unknown])[];
}

/** Options of a poller. */
export interface PollOptions<N extends string> {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** The column with the time of the last modification; needed where the feed is not used. */
  readonly by?: N | undefined;
  /** Where to start: a saved place, or a time; default: with every row. */
  readonly from?: Place | string | undefined;
  /** How long to wait between rounds; default 5. */
  readonly everySeconds?: number | undefined;
  /** Longer than the longest writing transaction; default 60. */
  readonly overlapSeconds?: number | undefined;
  /** Called each time the service cannot be reached; the poller keeps trying. */
  readonly onError?: ((error: RowgateError) => void) | undefined;
}

/** Rows that changed, and the place after them. */
export interface Changes<R> {
  readonly records: readonly R[];
  /** The keys of rows that were deleted; always empty if not `exact`. */
  readonly deleted: readonly Key[];
  /**
   * True: read from the changes feed of the table, which misses nothing. False: read by time, which
   * misses deleted rows, and rows of transactions that take longer than the overlap.
   */
  readonly exact: boolean;
  readonly place: Place;
}

/** The key columns of a row. */
export type Key = { readonly [column: string]: unknown };

/** Options of following a table. */
export interface FollowOptions<N extends string> {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** The columns of the records; default: all. */
  readonly select?: readonly N[] | undefined;
  /** Where to start: a saved cursor, `now`, or `start` (the default) with every row. */
  readonly since?: string | undefined;
  /** Called each time the stream ends or cannot be opened; it is opened again. */
  readonly onError?: ((error: RowgateError) => void) | undefined;
}

/**
 * An event of a table: a row was added or changed, a row was deleted, or there is nothing more for
 * now. If it has a `cursor`, save that after applying everything before it.
 */
export type FollowEvent<R> =
  | {
    readonly type: "upsert";
    readonly key: Key;
    readonly record: R;
    readonly cursor?: string | undefined;
  }
  | {
    readonly type: "delete";
    readonly key: Key;
    readonly record: null;
    readonly cursor?: string | undefined;
  }
  | { readonly type: "caught_up"; readonly cursor: string };

/**
 * A client for one token. Calls return errors as values; iterators throw them. A call that is rejected
 * with a `RowgateError` whose `attempts` is 0 was not sent: it has a value that JSON would drop or
 * change.
 */
export interface Client<T extends TablesOf<T> = AnyTables> {
  /** Reads one page of rows. */
  query<
    K extends keyof T & string,
    S extends ColumnOf<T[K]> = ColumnOf<T[K]>,
    C extends boolean = true,
  >(
    table: K,
    request?: Query<T[K], S>,
    options?: QueryOptions<C>,
  ): Promise<Result<Page<Pick<T[K]["record"], S>, C>>>;
  /**
   * Reads all rows, page by page; each page costs the same. A row that stays is returned exactly
   * once, whatever is written meanwhile. For that, a table without a key needs a `sort` by a unique
   * column; otherwise its pages are numbered.
   */
  pages<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request?: Omit<Query<T[K], S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<readonly Pick<T[K]["record"], S>[], void, undefined>;
  /** Reads all rows, row by row, as `pages` does. */
  records<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request?: Omit<Query<T[K], S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<Pick<T[K]["record"], S>, void, undefined>;
  /**
   * Reads all rows of one moment, row by row, in one stream. Throws if it is cut off; then the rows
   * so far are incomplete.
   */
  exportRows<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request?: Omit<Query<T[K], S>, "page" | "per_page">,
    options?: CallOptions,
  ): AsyncGenerator<Pick<T[K]["record"], S>, void, undefined>;
  /**
   * Yields changed rows, each change once, until the signal ends it. If the table has a changes feed,
   * and neither filters nor a time are given, it reads the feed: then `exact` is true, and `deleted`
   * has the keys of deleted rows. Otherwise it reads by time, and always selects the time and the
   * key. Throws a 410 if the feed no longer has the changes after a place: discard the copy, and
   * begin without a place.
   */
  poll<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request: Omit<Query<T[K], S>, "page" | "sort">,
    options: PollOptions<ColumnOf<T[K]>>,
  ): AsyncGenerator<Changes<Pick<T[K]["record"], S>>, void, undefined>;
  /**
   * Follows the changes feed of a table as a stream, from its rows or from a cursor, until the signal
   * ends it. It reconnects and misses nothing; events after the last cursor may be repeated. Throws a
   * 410 like `poll`, and a 404 if the table has no feed.
   */
  follow<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    options?: FollowOptions<S>,
  ): AsyncGenerator<FollowEvent<Pick<T[K]["record"], S>>, void, undefined>;
  /**
   * Reads exactly one row: 404 if none matches, 409 if several do, with `matched`. `onHeaders` gives its
   * version in `ETag`.
   */
  get<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    filters: { readonly [N in ColumnOf<T[K]>]?: string | number | boolean },
    options?: GetOptions<S>,
  ): Promise<Result<OneRecord<Pick<T[K]["record"], S>>>>;
  /** Creates up to 200 records, all or none. */
  create<K extends CreatableOf<T>>(
    table: K,
    records: readonly NonNullable<T[K]["create"]>[],
    options?: UpdateOptions,
  ): Promise<Result<Created>>;
  /**
   * Creates up to 200 records, or updates the rows that have their values in the columns of one unique
   * key, all or none.
   */
  upsert<K extends CreatableOf<T> & WritableOf<T>>(
    table: K,
    match: readonly ColumnOf<T[K]>[],
    records: readonly Upserted<T[K]>[],
    options?: UpdateOptions,
  ): Promise<Result<Upserts>>;
  /** Updates exactly one row: 404 if none matches, 409 if several do, with `matched`. */
  updateSingle<K extends WritableOf<T>>(
    table: K,
    update: Update<T[K]>,
    options?: UpdateOptions,
  ): Promise<Result<UpdatedSingle<Update<T[K]>["fields"]>>>;
  /** Updates every row that matches. */
  updateBulk<K extends WritableOf<T>>(
    table: K,
    update: Update<T[K]>,
    options?: UpdateOptions,
  ): Promise<Result<UpdatedBulk>>;
  /**
   * Runs up to 200 single updates of a table in order, all or none: the first one that fails undoes
   * the others, and the message begins with its place, such as `updates[3]`.
   */
  updateBatch<K extends WritableOf<T>>(
    table: K,
    updates: readonly Update<T[K]>[],
    options?: UpdateOptions,
  ): Promise<Result<UpdatedBatch>>;
  /** Deletes exactly one row: 404 if none matches, 409 if several do, with `matched`. */
  deleteSingle<K extends keyof T & string>(
    table: K,
    filters: Equalities<T[K]>,
    options?: UpdateOptions,
  ): Promise<Result<DeletedSingle>>;
  /** Deletes every row that matches, if these are no more than `maxAffected`. */
  deleteBulk<K extends keyof T & string>(
    table: K,
    filters: Equalities<T[K]>,
    options: UpdateOptions & { readonly maxAffected: number },
  ): Promise<Result<DeletedBulk>>;
  /** Lists the tables that the token gives access to. */
  tables(options?: CallOptions): Promise<Result<TableList>>;
  /** Lists the columns of a table. */
  fields(table: keyof T & string, options?: CallOptions): Promise<Result<FieldList>>;
  /** Describes the token and what it allows. */
  token(options?: CallOptions): Promise<Result<TokenAnswer>>;
}
