/**
 * SQL text that may stand in a statement as it is: quoted identifiers and type names that came from
 * Postgres's own catalogue. Only `catalogue/quote_identifier.ts` makes it.
 */
export type SqlText = string & { readonly trusted: unique symbol };

/** What kind of value a column takes, by its base type (domains looked through). */
export type ValueKind =
  | "boolean"
  | "int2"
  | "int4"
  | "int8"
  | "float4"
  | "float8"
  | "numeric"
  | "text"
  | "uuid"
  | "enum"
  | "json"
  | "bytea"
  | "array"
  | "composite"
  | "other";

/** Why a column can not be set by an update. */
export type ReadOnlyReason =
  | "primary key"
  | "tenant"
  | "generated"
  | "identity"
  | "policy"
  | "privilege"
  | "composite"
  | "looked up";

/** A column that a client may name. @see N2, T18 */
export interface Column {
  /** Exactly as spelt; matches the name pattern. */
  readonly name: string;
  /** `"name"`, quoted. */
  readonly identifier: SqlText;
  /** Postgres's name of the type as clients see it: `int8`, `timestamptz`, `text[]`, a domain's own name. */
  readonly type: string;
  /** Name of the type underneath: domains looked through (`timestamptz`, `_text` as `text[]`). */
  readonly baseType: string;
  /** True when `cast` is a domain, whose rules only Postgres can judge. */
  readonly domain: boolean;
  readonly kind: ValueKind;
  /** Kind of the elements when `kind` is `array`. */
  readonly elementKind: ValueKind | undefined;
  /**
   * Type that parameters are cast to: never a length modifier; the domain itself when neither it nor
   * what it stands on has a modifier, else its base type. Schema-qualified and quoted.
   */
  readonly cast: SqlText;
  /** Type whose rounding a stored value has been through: `numeric(18,4)`, `timestamp(0)`; else equal to `cast`. */
  readonly storedCast: SqlText;
  /**
   * Type that the column itself must be cast to in a comparison: a domain over an enum has no `=` or
   * `<` of its own. Undefined for all others.
   */
  readonly comparedAs?: SqlText | undefined;
  /** `char(n)` or an array of it: compared as text, for its padding. */
  readonly padded: boolean;
  /** Characters at most (`varchar(n)`, `char(n)`), bits (`bit(n)`, `varbit(n)`), of the base or element type. */
  readonly maxLength: number | undefined;
  readonly nullable: boolean;
  readonly primaryKey: boolean;
  readonly readOnly: ReadOnlyReason | undefined;
  /** Labels when `kind` (or `elementKind`) is `enum`, in the enum's order. */
  readonly labels: readonly string[] | undefined;
  /** The type has `=` by a default operator class. */
  readonly equality: boolean;
  /** The type has `<` by a default operator class of btree. */
  readonly order: boolean;
  /** Postgres looks values of the type up in its catalogue, so that none is taken. */
  readonly lookedUp: boolean;
  /** False for a collation under which unequal texts are equal; patterns need another one then. */
  readonly deterministic: boolean;
  /** 64-bit integer or numeric, or an array of it: printed as strings on `IEEE754Compatible=true`. */
  readonly wideNumber: boolean;
  readonly comment: string | null;
}

/** The column that says whose a row is. */
export interface TenantColumn {
  readonly name: string;
  readonly identifier: SqlText;
  /** Plain type of the column, for the cast of the tenant: `pg_catalog.int4`. */
  readonly cast: SqlText;
  readonly kind: "text" | "uuid" | "int2" | "int4" | "int8";
}

/** A table that clients may address. */
export interface Table {
  readonly name: string;
  /** `"schema"."table"`, quoted. */
  readonly identifier: SqlText;
  readonly comment: string | null;
  /** Exposed columns by name, in column order. */
  readonly columns: ReadonlyMap<string, Column>;
  /** The primary key's exposed columns, in key order; empty when there is none. */
  readonly primaryKey: readonly Column[];
  /**
   * Quoted identifiers of the key columns that the role may read, exposed to clients or not, in key
   * order: the last sort key.
   */
  readonly keyOrder: readonly SqlText[];
  /** Quoted identifiers of the columns by which an index gives the tenant's rows in order. */
  readonly ordered: ReadonlySet<SqlText>;
  /** True when one row at most has a key, and clients may see all of it. */
  readonly keyUnique: boolean;
  /** True when besides one index holds the tenant column and the whole key. */
  readonly keyIndexed: boolean;
  /** Undefined: a shared look-up table, read by every tenant, written by none. */
  readonly tenant: TenantColumn | undefined;
  /** False: shared, read-only by policy, or no column can be updated. */
  readonly writable: boolean;
  /** True when `ctid`, `xmin` and `tableoid` can be read, so that a row version can be pinned. */
  readonly pinnable: boolean;
  /** True when a rule on UPDATE stands on it, which Postgres does not carry out inside of WITH. */
  readonly hasRewriteRules: boolean;
}

/** All that clients may address, at one moment. Swapped whole, never changed. */
export interface Catalogue {
  readonly tables: ReadonlyMap<string, Table>;
  /** Names of credential tables in lower case. @see O7 */
  readonly credentialTables: ReadonlySet<string>;
  /** Differs when anything a client can see differs; stands in ETags. */
  readonly version: string;
}
