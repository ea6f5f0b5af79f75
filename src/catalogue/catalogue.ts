import type { Group } from "../request/filters.ts";
import type { ReadOnlyReason } from "./read_only_reason.ts";
import type { StoredTable } from "./stored_table.ts";
import type { ValueKind } from "./value_kind.ts";
import type { WriteGaps } from "./write_gaps.ts";

/**
 * SQL that may be inserted into a statement: quoted identifiers and names of types from Postgres's
 * own catalogue. Only `catalogue/quote_identifier.ts` makes it.
 */
export type SqlText = string & { readonly trusted: unique symbol };

/** A column that a client may name. @see N2, T18 */
export interface Column {
  /** Exactly as clients spell it; matches the name pattern. */
  readonly name: string;
  /** Its name in the database, quoted: `"name"`. */
  readonly identifier: SqlText;
  /** Its name for clients, quoted; undefined if that is the same. @see T70 */
  readonly alias?: SqlText | undefined;
  /** Name of the type that clients see: `int8`, `timestamptz`, `text[]`, or the name of a domain. */
  readonly type: string;
  /** Name of the base type, after domains are resolved: `timestamptz`, `text[]`. */
  readonly baseType: string;
  /** True when `cast` is a domain, whose constraints only Postgres can check. */
  readonly domain: boolean;
  readonly kind: ValueKind;
  /** Kind of the elements when `kind` is `array`. */
  readonly elementKind: ValueKind | undefined;
  /**
   * Type that parameters are cast to, schema-qualified and quoted, never with a length. It is the
   * domain if neither that nor its base type has a modifier, otherwise the base type.
   */
  readonly cast: SqlText;
  /** Type that rounds stored values: `numeric(18,4)`, `timestamp(0)`; otherwise the same as `cast`. */
  readonly storedCast: SqlText;
  /**
   * Type that the column must be cast to in a comparison, for a domain over an enum, which has no `=`
   * or `<` of its own; undefined for all others.
   */
  readonly comparedAs?: SqlText | undefined;
  /** True for `char(n)` and arrays of it, whose padding is not part of the value. */
  readonly padded: boolean;
  /** Characters (`varchar(n)`, `char(n)`) or bits (`bit(n)`, `varbit(n)`) of a value or an element. */
  readonly maxLength: number | undefined;
  readonly nullable: boolean;
  readonly primaryKey: boolean;
  readonly readOnly: ReadOnlyReason | undefined;
  /** Why a new record cannot set it, if it cannot. */
  readonly unset: ReadOnlyReason | undefined;
  /** True if a new record must give it: it is not null, and has no default. @see T87 */
  readonly required: boolean;
  /** Labels if `kind` or `elementKind` is `enum`, in the enum's order. */
  readonly labels: readonly string[] | undefined;
  /** True if the type has `=` by a default operator class. */
  readonly equality: boolean;
  /** True if the type has `<` by a default operator class of btree. */
  readonly order: boolean;
  /** The schema of these operators, quoted; undefined for `pg_catalog`. */
  readonly operators?: SqlText | undefined;
  /** True if values name objects of the database, which Postgres looks up; none is accepted. */
  readonly namesObjects: boolean;
  /**
   * False if different texts may be equal under the collation; then patterns need another collation.
   */
  readonly deterministic: boolean;
  /**
   * The kind of container, for `contains`: an array, `jsonb` or a range; undefined for all other
   * types.
   */
  readonly container?: "array" | "jsonb" | "range" | "multirange" | undefined;
  /** True for 64-bit integers, numeric, and arrays of them: strings with `IEEE754Compatible=true`. */
  readonly wideNumber: boolean;
  /** The zone of dates and times without one; undefined for all other types. */
  readonly timeZone?: string | undefined;
  readonly comment: string | null;
}

/** How to find the tenant that a row belongs to. */
export interface Tenancy {
  /**
   * The columns with the tenant, in the table itself or in the last table of `via`. If there are
   * several, each has a part: for the tenant `7/2` the first has 7 and the second has 2.
   */
  readonly columns: readonly TenantColumn[];
  /**
   * The foreign keys that lead from the row to that table, nearest first; empty for columns of the
   * table itself.
   */
  readonly via: readonly TenantStep[];
}

/** A foreign key that leads from a row to its parent row. @see T57 */
export interface TenantStep {
  /** The name of the referenced table. */
  readonly table: string;
  /** `"schema"."table"`, quoted. */
  readonly identifier: SqlText;
  /** That table in a FROM, without its child tables, since foreign keys do not refer to their rows. */
  readonly source: SqlText;
  /** The columns of the foreign key, in the order of `pairs`. */
  readonly columns: readonly string[];
  readonly pairs: readonly ReferencePair[];
}

/** A column of a foreign key, and the one that it refers to. */
export interface ReferencePair {
  /** Quoted identifiers. */
  readonly from: SqlText;
  readonly to: SqlText;
  /** The schema of their `=`, quoted; undefined for `pg_catalog`. */
  readonly operators?: SqlText | undefined;
}

/** A column with the tenant of a row. */
export interface TenantColumn {
  readonly name: string;
  readonly identifier: SqlText;
  /** Type that the tenant is cast to, never a domain: `pg_catalog.int4`. */
  readonly cast: SqlText;
  readonly kind: "text" | "uuid" | "int2" | "int4" | "int8";
}

/** A filter of the policy, and the columns that it may name, hidden ones included. */
export interface RowFilter {
  readonly group: Group;
  readonly columns: ReadonlyMap<string, Column>;
}

/** Row level security of a table, as far as it decides which rows clients see. */
export interface RowSecurity {
  /** The columns that its policies name. */
  readonly columns: readonly Column[];
  /** What the policies demand of a row; undefined: they do not apply to the role. */
  readonly condition: SqlText | undefined;
  /** Why the condition cannot be applied to what a row was before a change, if it cannot. @see CH25 */
  readonly obstacle?: string | undefined;
  /** True if it calls functions of the operator, which may read more than the row. */
  readonly callsFunctions?: boolean;
}

/** A table that clients may address. */
export interface Table {
  readonly name: string;
  /** `"schema"."table"`, quoted. */
  readonly identifier: SqlText;
  /** Its schema and name in the database, and its name in the policy. */
  readonly stored: StoredTable;
  /** Names of columns that are hidden because clients could not write them. @see T70 */
  readonly unnamed?: readonly string[];
  readonly comment: string | null;
  /** Exposed columns by name, in column order. */
  readonly columns: ReadonlyMap<string, Column>;
  /** The exposed columns of the primary key, in key order. */
  readonly primaryKey: readonly Column[];
  /**
   * The key columns that the role may read, exposed or not, in key order; every sort ends with them.
   * Only those in `columns` may be named to clients.
   */
  readonly keyOrder: readonly Column[];
  /**
   * Unique sets of columns, by quoted identifier, without the tenant's: no two rows of a tenant are
   * equal in all columns of a set. A sort by all of them has no ties.
   */
  readonly uniqueColumns: readonly (readonly SqlText[])[];
  /** Quoted identifiers of the columns by which an index orders the rows of a tenant. */
  readonly orderedByIndex: ReadonlySet<SqlText>;
  /** True if no two rows have the same key and clients can see all of it. */
  readonly keyUnique: boolean;
  /** True if, in addition, one index has the tenant column and the whole key. */
  readonly keyIndexed: boolean;
  /** Undefined for a shared look-up table, which every tenant reads and none writes. */
  readonly tenancy: Tenancy | undefined;
  /**
   * The foreign keys, besides the one that leads to its tenant, that refer to rows of tenants: each as
   * the path from the row to the tenant of the row that it refers to.
   * @see T83
   */
  readonly references: readonly Tenancy[];
  /**
   * Its own tenant column; undefined if it is shared, its tenant is in several columns, or its rows
   * belong to those of another table.
   */
  readonly tenant: TenantColumn | undefined;
  /** The row filter: the rows that exist for clients; undefined: all of the tenant's. @see T64 */
  readonly only: RowFilter | undefined;
  /** Row level security, where it is enabled. */
  readonly rowSecurity?: RowSecurity | undefined;
  /** False: shared, read-only by policy, of an engine without updates, or no column can be updated. */
  readonly writable: boolean;
  /** True when `ctid`, `xmin` and `tableoid` can be read, so that a row version can be pinned. */
  readonly pinnable: boolean;
  /**
   * True if some of its rows are not in Postgres's own heap, but in a foreign table or another access
   * method.
   */
  readonly hasOtherEngine?: boolean;
  /**
   * True if its engines could not be tried, so that only an update shows whether the table can be
   * updated.
   */
  readonly mayRefuse?: boolean;
  /** True if its rows are or may be on several servers. */
  readonly isSpread?: boolean;
  /**
   * The column whose value decides on which server a row is; "": every server has all rows;
   * undefined: one server has them.
   */
  readonly distribution?: string | undefined;
  /** Number of its changes feed; undefined if it has none, or clients cannot see the whole key. */
  readonly feed: number | undefined;
  /** True when it has a rewrite rule on UPDATE, which Postgres does not apply inside of WITH. */
  readonly hasRewriteRules: boolean;
  /**
   * True if a trigger, or another server, may skip a row that an update would write. The row is locked
   * first, so that it is known whether another request changed it.
   * @see U64
   */
  readonly maySkip?: boolean;
  /**
   * True if a trigger, a rule or another server may change a row after RETURNING has shown it. So an
   * update reads the rows that it has written once more, by their key, before it is committed.
   * @see T86
   */
  readonly rereads?: boolean;
  /** Why an update of it could not be checked, so that it is read-only; undefined: it can. @see T86 */
  readonly uncheckable?: string | undefined;
  /** The time zone that its triggers see when it is updated; undefined for UTC. @see U61 */
  readonly timeZone?: string | undefined;
  /** Whether clients can create records: the role has INSERT, and the policy does not forbid it. */
  readonly creatable: boolean;
  /** Whether clients can delete records. */
  readonly deletable: boolean;
  /** False if the role may update no column, and so may not lock a row before it deletes it. */
  readonly lockable?: boolean;
  /** The rows that a delete takes with it, by the keys of other tables. @see DE11 */
  readonly cascades?: readonly Cascade[];
  /** How a delete marks a row instead of deleting it; undefined: it deletes. @see DE13 */
  readonly softDelete?: SoftDelete | undefined;
  /** What keeps clients from creating and deleting, for the operator. @see R70, R71 */
  readonly gaps?: WriteGaps;
  /** The unique keys by which an upsert can find a row; none where it cannot be used. @see UP3 */
  readonly matchKeys: readonly (readonly Column[])[];
  /** What takes part when a row is inserted. */
  readonly inserts: Writing;
  /** What takes part when a row is deleted. */
  readonly deletes: Writing;
}

/** Rows that are deleted or changed with a row, over one or several foreign keys. @see DE11 */
export interface Cascade {
  /** The name of their table; undefined where no client can address it. */
  readonly table: string | undefined;
  /** The keys that lead to them, from the row on. */
  readonly path: readonly CascadeStep[];
  /** Whose they are; undefined: surely the tenant's; `others`: those of several tenants. */
  readonly tenancy: Tenancy | "others" | undefined;
  /** The row that they refer to afterwards, over a key with `set default`; it must be the tenant's. */
  readonly target?: CascadeTarget;
}

/** The row that a row refers to by its defaults. */
export interface CascadeTarget {
  /** Its table in a FROM. */
  readonly source: SqlText;
  readonly pairs: readonly ReferencePair[];
  /** The defaults of the columns, in the order of the pairs; undefined for one that keeps its value. */
  readonly defaults: readonly (SqlText | undefined)[];
  readonly tenancy: Tenancy;
}

/** A foreign key that is followed from a row to the rows that refer to it. */
export interface CascadeStep {
  /** The table of those rows in a FROM. */
  readonly source: SqlText;
  readonly pairs: readonly ReferencePair[];
}

/** The column that says that a row is deleted. @see DE13 */
export interface SoftDelete {
  readonly column: Column;
  /** What a delete sets it to. */
  readonly value: "true" | "now";
}

/** What takes part in an operation besides Postgres itself, as a table has it for its updates. */
export type Writing = Required<Pick<Table, "hasRewriteRules" | "maySkip" | "rereads">>;

/** All tables that clients can use, at one moment. It is immutable: changes replace it. */
export interface Catalogue {
  readonly tables: ReadonlyMap<string, Table>;
  /** Names of credential tables in lower case. @see O7 */
  readonly credentialTables: ReadonlySet<string>;
  /** Why tables are not served of which row level security hides every row, by their names. @see T82 */
  readonly blind?: ReadonlyMap<string, string>;
  /** Changes with everything in the catalogue that a client can see; part of ETags. */
  readonly version: string;
}
