import type {
  FieldList,
  Page,
  Result,
  RowgateError,
  TableList,
  TokenAnswer,
  UpdatedBulk,
  UpdatedSingle,
} from "./answers.ts";
import type { AnyTables, ColumnOf, Query, TablesOf, Update, WritableOf } from "./tables.ts";

/** Where the service is, and how it is asked. */
export interface ClientOptions {
  /** Address of the service, with a path when it is not at the root. */
  readonly url: string;
  readonly token: string;
  /** Takes the place of the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How often a request is repeated, where that is safe; 3 when left out, 0: never. */
  readonly retries?: number | undefined;
  /** How long one try may take; 60 when left out. */
  readonly timeoutSeconds?: number | undefined;
  /** True: 64-bit integers and `numeric` come as strings, with every digit. */
  readonly wideNumbers?: boolean | undefined;
}

/** Holds `wideNumbers` to what the types were printed for. */
export type WideOption<T> = T[keyof T] extends { readonly wideNumbers: true }
  ? { readonly wideNumbers: true }
  : string extends keyof T ? unknown
  : { readonly wideNumbers?: false | undefined };

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told the headers of each answer: `Preference-Applied`, `RateLimit`. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/** What a query takes beside its body. */
export interface QueryOptions<C extends boolean = boolean> extends CallOptions {
  /** False: `total` is not counted, and null. */
  readonly count?: C | undefined;
}

/** What an update takes beside its body. */
export interface UpdateOptions extends CallOptions {
  /** Refuse with 409, and change nothing, when more rows match. */
  readonly maxAffected?: number | undefined;
  /** Do everything, and keep nothing of it. */
  readonly rollback?: boolean | undefined;
}

/** Where a poller stands: plain JSON, to be saved and given back as it is. */
export interface Place {
  /** Modification time and key of the last row in order. */
  readonly after?: { readonly [column: string]: unknown } | undefined;
  /** From here on rows are read again; in milliseconds since 1970. */
  readonly window: number;
  /** Keys and times of the rows in the window that were given already. */
  readonly seen: readonly (readonly [key: string, time: unknown])[];
}

/** What a poller looks for. */
export interface PollOptions<N extends string> {
  /** Ends the iterator. */
  readonly signal?: AbortSignal | undefined;
  /** The column with the time of the last change. */
  readonly by: N;
  /** Where to go on: a place that was saved, or a time; left out: with the oldest row. */
  readonly from?: Place | string | undefined;
  /** How long to wait when nothing is left; 5 when left out. */
  readonly everySeconds?: number | undefined;
  /** Longer than any writing transaction takes; 60 when left out. */
  readonly overlapSeconds?: number | undefined;
  /** Told each time that the service can not be asked; the poller tries on. */
  readonly onError?: ((error: RowgateError) => void) | undefined;
}

/** Rows that changed, and the place behind them. */
export interface Changes<R> {
  readonly records: readonly R[];
  readonly place: Place;
}

/** A client of one token; every call gives what went wrong as a value, and iterators throw it. */
export interface Client<T extends TablesOf<T> = AnyTables> {
  /** Asks for one page. */
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
   * Gives all rows, page by page. Without `sort` it goes on by key, so that rows that come or go
   * meanwhile shift nothing; with `sort` by page number. A key that is not in `select` comes along.
   */
  pages<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request?: Omit<Query<T[K], S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<readonly Pick<T[K]["record"], S>[], void, undefined>;
  /** The same row by row. */
  records<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request?: Omit<Query<T[K], S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<Pick<T[K]["record"], S>, void, undefined>;
  /**
   * Gives rows that changed, each change once, for ever or until the signal ends it. Time and key
   * that are not in `select` come along.
   */
  poll<K extends keyof T & string, S extends ColumnOf<T[K]> = ColumnOf<T[K]>>(
    table: K,
    request: Omit<Query<T[K], S>, "page" | "sort">,
    options: PollOptions<ColumnOf<T[K]>>,
  ): AsyncGenerator<Changes<Pick<T[K]["record"], S>>, void, undefined>;
  /** Changes exactly one row: none is 404, several are 409, with `matched`. */
  updateSingle<K extends WritableOf<T>>(
    table: K,
    update: Update<T[K]>,
    options?: UpdateOptions,
  ): Promise<Result<UpdatedSingle<Update<T[K]>["fields"]>>>;
  /** Changes every row that matches. */
  updateBulk<K extends WritableOf<T>>(
    table: K,
    update: Update<T[K]>,
    options?: UpdateOptions,
  ): Promise<Result<UpdatedBulk>>;
  /** Lists the tables that the token opens. */
  tables(options?: CallOptions): Promise<Result<TableList>>;
  /** Lists the columns of a table. */
  fields(table: keyof T & string, options?: CallOptions): Promise<Result<FieldList>>;
  /** Tells what the token is and allows. */
  token(options?: CallOptions): Promise<Result<TokenAnswer>>;
}
