/** The types of one table, as `rowgate types` prints them. */
export interface TableTypes {
  /** A row, with all of its columns. */
  readonly record: object;
  /** A condition of a query's filter. */
  readonly condition: object;
  /** Which rows to update; missing if the table is read-only. */
  readonly filters?: object;
  /** The columns that an update can set. */
  readonly fields?: object;
  /** A new record; missing if none can be created. */
  readonly create?: object;
  /** Present if 64-bit integers and `numeric` are typed as strings. */
  readonly wideNumbers?: true;
}

/** Table names and the types of each table. */
export type TablesOf<T> = { readonly [K in keyof T]: TableTypes };

/** The tables of a client without types: any table, any column. */
export interface AnyTables {
  readonly [table: string]: {
    readonly record: { readonly [column: string]: unknown };
    readonly condition: {
      readonly field: string;
      readonly op: string;
      readonly value?: unknown;
    };
    readonly filters: { readonly [column: string]: unknown };
    readonly fields: { readonly [column: string]: unknown };
    readonly create: { readonly [column: string]: unknown };
  };
}

/** The names of a table's columns. */
export type ColumnOf<T extends TableTypes> = keyof T["record"] & string;

/** The names of the tables that can be updated. */
export type WritableOf<T extends TablesOf<T>> = {
  [K in keyof T & string]: T[K] extends { readonly fields: object } ? K : never;
}[keyof T & string];

/** The names of the tables in which records can be created. */
export type CreatableOf<T extends TablesOf<T>> = {
  [K in keyof T & string]: T[K] extends { readonly create: object } ? K : never;
}[keyof T & string];

/** A record of an upsert: of a row that exists only what it has is set. */
export type Upserted<T extends TableTypes> = Partial<NonNullable<T["create"]>> & T["fields"];

/** A condition, or a group of them. */
export type Filter<C> = C | Group<C>;

/** Items that must all match (`and`), or of which at least one must (`or`). */
export type Group<C> =
  | { readonly and: readonly Filter<C>[]; readonly or?: never }
  | { readonly or: readonly Filter<C>[]; readonly and?: never };

/** One key of a sort. */
export interface SortKey<Name extends string> {
  readonly field: Name;
  /** Default `asc`. */
  readonly direction?: "asc" | "desc";
}

/** The body of Query Records; `S` are the selected columns. */
export interface Query<T extends TableTypes, S extends ColumnOf<T> = ColumnOf<T>> {
  readonly filters?: Group<T["condition"]>;
  readonly select?: readonly S[];
  readonly sort?: readonly SortKey<ColumnOf<T>>[];
  /** From 1. */
  readonly page?: number;
  /** 1 to 200. */
  readonly per_page?: number;
}

/** Columns and the values that they must equal, all of them. */
export type Equalities<T extends TableTypes> = {
  readonly [N in ColumnOf<T>]?: string | number | boolean | null;
};

/** The body of an update: which rows, and what to set. */
export interface Update<T extends TableTypes> {
  readonly filters: NonNullable<T["filters"]>;
  readonly fields: NonNullable<T["fields"]>;
}
