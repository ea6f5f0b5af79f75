import type { TokenScope } from "../access/scopes.ts";

/** The response of Query Records; `total` is null if it was not counted. */
export interface Page<R, C extends boolean = boolean> {
  readonly table: string;
  readonly page: number;
  readonly per_page: number;
  readonly total: C extends true ? number : null;
  readonly records: readonly R[];
}

/** The response of Get Single Record. */
export interface OneRecord<R> {
  readonly table: string;
  readonly record: R;
}

/** The response of Update Single Record; `fields` are the values as sent. */
export interface UpdatedSingle<F> {
  readonly table: string;
  readonly matched: 1;
  readonly updated: number;
  readonly fields: F;
  /** The row as it is stored now; only with `returning`. */
  readonly record?: { readonly [column: string]: unknown };
}

/** The response of Update Bulk Records; `updated` counts the rows whose values changed. */
export interface UpdatedBulk {
  readonly table: string;
  readonly updated: number;
}

/** The response of Update Batch: one result for each update, in order. */
export interface UpdatedBatch {
  readonly table: string;
  /** Only with `continues`. */
  readonly failed?: number;
  readonly results: readonly ({ readonly matched: 1; readonly updated: number } | FailedResult)[];
}

/** What is said of a record that was refused by itself, with `continues`. */
export interface FailedResult {
  readonly status: number;
  readonly error: string;
  readonly matched?: number;
}

/** The result of a record that was written. */
export interface WrittenResult {
  /** The columns of the primary key; null if there is none. */
  readonly key: { readonly [column: string]: unknown } | null;
  /** The row as it is stored; only with `returning`. */
  readonly record?: { readonly [column: string]: unknown };
}

/** The response of Create Records: one result for each record, in order. */
export interface Created {
  readonly table: string;
  readonly created: number;
  /** Only with `continues`. */
  readonly failed?: number;
  readonly results: readonly (WrittenResult | FailedResult)[];
}

/** The response of Upsert Records: one result for each record, in order. */
export interface Upserts {
  readonly table: string;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Only with `continues`. */
  readonly failed?: number;
  readonly results: readonly (
    | WrittenResult & { readonly outcome: "created" | "updated" | "unchanged" }
    | FailedResult
  )[];
}

/** The response of Delete Single Record. */
export interface DeletedSingle {
  readonly table: string;
  readonly matched: 1;
  readonly deleted: 1;
  /** The row as it was; only with `returning`. */
  readonly record?: { readonly [column: string]: unknown };
}

/** The response of Delete Bulk Records. */
export interface DeletedBulk {
  readonly table: string;
  readonly deleted: number;
}

/** The response of Get Tables. */
export interface TableList {
  readonly tables: readonly {
    readonly name: string;
    readonly primary_key: readonly string[];
    readonly writable: boolean;
    readonly creatable: boolean;
    readonly deletable: boolean;
    /** It has a changes feed. */
    readonly changes: boolean;
    readonly comment: string | null;
  }[];
}

/** The response of Get Fields. */
export interface FieldList {
  readonly table: string;
  readonly fields: readonly {
    readonly name: string;
    /** The Postgres name of the type. */
    readonly type: string;
    /** The type that a domain is based on. */
    readonly base_type?: string;
    readonly nullable: boolean;
    readonly primary_key: boolean;
    readonly writable: boolean;
    readonly operators: readonly string[];
    readonly enum?: readonly string[];
    /** The zone of a date or time that has none of its own. */
    readonly time_zone?: string;
    readonly comment: string | null;
  }[];
  /** The unique keys that `match` of an upsert can name. */
  readonly match_keys: readonly (readonly string[])[];
}

/** The response of Get Token. */
export interface TokenAnswer {
  readonly token: {
    readonly id: string;
    readonly name: string | null;
    readonly tenant: string;
    readonly scopes: readonly TokenScope[];
    /** Null: all tables. */
    readonly tables: readonly string[] | null;
    readonly expires_at: string | null;
  };
}
