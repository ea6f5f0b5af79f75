import type { FoundReferrer } from "./referrers.ts";

/** The schemas as the current role sees them, not interpreted. */
export interface Introspection {
  /** The schemas that exist and that the role may use. */
  readonly usable: readonly string[];
  /** The time zone of a new session that does not ask for one. */
  readonly timeZone: string;
  /**
   * True if an extension keeps rows of tables on other servers, and lists them in
   * `pg_dist_partition`.
   */
  readonly distributes: boolean;
  readonly tables: readonly FoundTable[];
  /** By oid: the types of all columns, with the types that they are based on. */
  readonly types: Readonly<Record<string, FoundType>>;
  /** The credential tables of the policy that exist, in lower case. */
  readonly credentialTables: readonly string[];
}

/** A relation that may be exposed, or that the policy names. */
export interface FoundTable {
  readonly schema: string;
  readonly name: string;
  /** `pg_class.relkind`: r ordinary, p partitioned, v view, m materialised view, f foreign. */
  readonly kind: "r" | "p" | "v" | "m" | "f";
  readonly comment: string | null;
  /** True if the role may read ctid, xmin and tableoid. */
  readonly pinnable: boolean;
  /** True if the table has a rule on UPDATE. */
  readonly hasRewriteRules: boolean;
  /** True for a table, and for a view that Postgres updates by itself: no rule or trigger in it does. */
  readonly updatable: boolean;
  /** True if a trigger, or another server, may skip a row that an update would write. */
  readonly early: boolean;
  /** True if a trigger, a rule or another server may change a row after RETURNING has shown it. */
  readonly late: boolean;
  /** What an insert has to reckon with. */
  readonly inserts: FoundWriting;
  /** What a delete has to reckon with. */
  readonly deletes: FoundWriting;
  /**
   * The access methods of the table, its partitions and child tables, and "" for foreign tables; null
   * if all are Postgres's own heap.
   */
  readonly engines: readonly string[] | null;
  /**
   * The column whose value decides on which server a row is; "" if every server has all rows.
   * `probeEngines` finds it.
   */
  readonly distribution?: string | undefined;
  /**
   * True if its engine could not be tried, so that only an update shows whether one can be made; from
   * `probeEngines` too.
   */
  readonly mayRefuse?: boolean;
  /** True if it includes the rows of child tables, which its key does not cover. */
  readonly hasChildTables: boolean;
  /** Its row level security; null where it is not enabled. */
  readonly rowSecurity?: {
    /** True if it applies to the role. */
    readonly active: boolean;
    /** The policies for SELECT, of all roles. */
    readonly policies: readonly FoundPolicy[];
  } | null;
  /** Number of the changes feed whose triggers it has, as digits. */
  readonly feed: string | null;
  /** Column numbers of the primary key, in key order. */
  readonly key: readonly number[];
  /**
   * False if two rows may have the same key: no index of all partitions keeps it yet, or it is one of
   * periods that must not overlap.
   */
  readonly keyIsValid: boolean;
  /** Its foreign keys, to tables of any schema. */
  readonly foreignKeys: readonly FoundForeignKey[];
  /** The foreign keys that change or delete rows when a row of it is deleted. */
  readonly referrers?: readonly FoundReferrer[];
  /** Those of the tables beneath a view, as far as the view uses their columns. */
  readonly keysBeneath?: readonly FoundKeyBeneath[];
  /** Numbers of the first two columns of each btree index: `1 4`, or `1 ` if there is one. */
  readonly indexes: readonly string[];
  /** Each unique index that compares its columns as a filter and a sort compare them. */
  readonly unique: readonly FoundUnique[];
  /** In column order, including those that the role may not read. */
  readonly columns: readonly FoundColumn[];
}

/** A unique index of whole columns and all rows. */
export interface FoundUnique {
  /** Column numbers. */
  readonly columns: readonly number[];
  /** True if no row is NULL in any of them. */
  readonly neverNull: boolean;
  /** False if it is only checked when a transaction is committed. */
  readonly immediate: boolean;
}

/** What an insert or a delete has to reckon with. */
export interface FoundWriting {
  /** True if the role has the right, for an insert on at least one column. */
  readonly granted: boolean;
  /** True for a table, and for a view that Postgres writes by itself: no rule or trigger in it does. */
  readonly possible: boolean;
  /** True if the table has a rule on the operation. */
  readonly hasRewriteRules: boolean;
  /** As for updates. */
  readonly early: boolean;
  readonly late: boolean;
}

/** A policy of row level security. */
export interface FoundPolicy {
  /** True if the role is one of those that it is for. */
  readonly applies: boolean;
  readonly permissive: boolean;
  /** As Postgres prints it; null: every row. */
  readonly condition: string | null;
  /** The numbers of the columns that it names. */
  readonly columns: readonly number[];
  /** The names of the other tables that it reads, functions aside. */
  readonly relations: readonly string[];
  /** The sources of the functions that it calls, except those of Postgres itself and immutable ones. */
  readonly functions: readonly string[];
  /** The sources of the immutable functions that it calls, and of those that all of these call in turn. */
  readonly called: readonly string[];
}

/** A foreign key of a table beneath a view. */
export interface FoundKeyBeneath extends FoundForeignKey {
  /** True if the view has all of its columns under the same names. */
  readonly isNamed: boolean;
  /** Columns of the view that may be its columns under other names. */
  readonly candidates: readonly string[];
}

/** A foreign key. Its columns are in the same order as the referenced ones. */
export interface FoundForeignKey {
  /** Schema and name of the referenced table. */
  readonly schema: string;
  readonly target: string;
  readonly columns: readonly string[];
  readonly targetColumns: readonly string[];
  /** False if a row may refer to none: the key is not valid, not enforced, or of periods. */
  readonly holds: boolean;
  /** True if its last columns are periods, of which one must be within those of the referenced rows. */
  readonly ofPeriods: boolean;
  /** True if the referenced table has a column with the name of the tenant column. */
  readonly hasTenant: boolean;
}

/** A column as the database describes it. */
export interface FoundColumn {
  readonly number: number;
  readonly name: string;
  /** Oid. */
  readonly type: string;
  /** `atttypmod`; -1 for none. */
  readonly modifier: number;
  /** The type with its modifier, as Postgres prints it; null without one. */
  readonly modified: string | null;
  /** True if no row is NULL in it; a constraint alone is no proof. */
  readonly notNull: boolean;
  /** True for a generated column. */
  readonly generated: boolean;
  /** True for an identity column that is always generated. */
  readonly identity: boolean;
  /** True if a new row must have a value, whatever the rows that are there have. */
  readonly mandatory: boolean;
  /** True if a new row gets a value without being given one. */
  readonly hasDefault: boolean;
  readonly select: boolean;
  readonly update: boolean;
  readonly insert: boolean;
  /** False if different texts may be equal under the collation. */
  readonly deterministic: boolean;
  readonly comment: string | null;
}

/** A type as the database describes it. */
export interface FoundType {
  readonly schema: string;
  /** `pg_type.typname`. */
  readonly name: string;
  /** `pg_type.typtype`: b base, c composite, d domain, e enum, r range, m multirange. */
  readonly kind: string;
  /** `pg_type.typcategory`; S for the texts. */
  readonly category: string;
  /** Of a domain: the oid of its type, the modifier, and the type as Postgres prints it. */
  readonly base: string | null;
  readonly modifier: number;
  readonly modified: string | null;
  readonly notNull: boolean;
  /** True for a domain with a default. */
  readonly hasDefault: boolean;
  /** Of a true array: the oid of its element type. */
  readonly element: string | null;
  readonly labels: readonly string[] | null;
  /** `=` by a default operator class. */
  readonly equality: boolean;
  /** `<` likewise, of btree. */
  readonly order: boolean;
  /** The schema of these operators; null for `pg_catalog`, and without operators. */
  readonly operators?: string | null;
}
