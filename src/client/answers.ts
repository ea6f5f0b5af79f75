/** What went wrong with a request, as a value. */
export interface RowgateError extends Error {
  readonly name: "RowgateError";
  /** HTTP status of the answer; 0 when none came. */
  readonly status: number;
  /** The first place in the request that the message names: `filters.and[1].value`. */
  readonly path?: string | undefined;
  /** All places that it names, five at most. */
  readonly paths: readonly string[];
  /** Rows that a single update matched, when they were not exactly one. */
  readonly matched?: number | undefined;
  /** Seconds to wait before the next try, when the answer says so. */
  readonly retryAfter?: number | undefined;
  /** What to name when you ask the operator. */
  readonly requestId?: string | undefined;
  /** How often the request was sent. */
  readonly attempts: number;
}

/** A request that failed. */
export interface Failure {
  readonly success: false;
  readonly error: RowgateError;
}

/** An answer or what went wrong; `success` tells them apart. */
export type Result<A> = (A & { readonly success: true }) | Failure;

/** The answer of Query Records; `total` is null when it was not asked for. */
export interface Page<R, C extends boolean = boolean> {
  readonly table: string;
  readonly page: number;
  readonly per_page: number;
  readonly total: C extends true ? number : null;
  readonly records: readonly R[];
}

/** The answer of Update Single Record; `fields` are the values as sent. */
export interface UpdatedSingle<F> {
  readonly table: string;
  readonly matched: 1;
  readonly updated: number;
  readonly fields: F;
}

/** The answer of Update Bulk Records; `updated` counts the rows whose values changed. */
export interface UpdatedBulk {
  readonly table: string;
  readonly updated: number;
}

/** The answer of Get Tables. */
export interface TableList {
  readonly tables: readonly {
    readonly name: string;
    readonly primary_key: readonly string[];
    readonly writable: boolean;
    readonly comment: string | null;
  }[];
}

/** The answer of Get Fields. */
export interface FieldList {
  readonly table: string;
  readonly fields: readonly {
    readonly name: string;
    /** Postgres's name of the type. */
    readonly type: string;
    readonly nullable: boolean;
    readonly primary_key: boolean;
    readonly writable: boolean;
    readonly operators: readonly string[];
    readonly enum?: readonly string[];
    readonly comment: string | null;
  }[];
}

/** The answer of `GET /integration/token`. */
export interface TokenAnswer {
  readonly token: {
    readonly id: string;
    readonly name: string | null;
    readonly tenant: string;
    readonly scopes: readonly ("query" | "update")[];
    /** Null: all tables. */
    readonly tables: readonly string[] | null;
    readonly expires_at: string | null;
  };
}
