/** What the introspection statement answers: the schema as the role in use sees it, uninterpreted. */
export interface Introspection {
  /** The schema is there and the role may use it. */
  readonly usable: boolean;
  readonly tables: readonly FoundTable[];
  /** By oid; every type of a column, with the types it stands on. */
  readonly types: Readonly<Record<string, FoundType>>;
  /** Names in the schema that the policy declares as credential tables, as spelt there. */
  readonly credentialTables: readonly string[];
}

/** A relation that may be exposed, or that the policy names. */
export interface FoundTable {
  readonly name: string;
  /** `pg_class.relkind`: r ordinary, p partitioned, v view, m materialised view, f foreign. */
  readonly kind: "r" | "p" | "v" | "m" | "f";
  readonly comment: string | null;
  /** The role may read ctid, xmin and tableoid. */
  readonly pinnable: boolean;
  /** The table has a rule on UPDATE. */
  readonly ruled: boolean;
  /** Rows of tables that inherit from it show in it; its key does not cover them. */
  readonly inherited: boolean;
  /** Column numbers of the primary key, in key order. */
  readonly key: readonly number[];
  /** Numbers of the first two columns of each index that keeps an order: `1 4`; `1` where there is one. */
  readonly indexes: readonly string[];
  /** In column order; those that the role may not read as well. */
  readonly columns: readonly FoundColumn[];
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
  readonly notNull: boolean;
  /** Generated always: a generated column. */
  readonly generated: boolean;
  /** Generated always as identity. */
  readonly identity: boolean;
  readonly select: boolean;
  readonly update: boolean;
  /** False for a collation under which unequal texts are equal. */
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
  /** Of a domain: the oid of the type beneath, its modifier, and that type as Postgres prints it. */
  readonly base: string | null;
  readonly modifier: number;
  readonly modified: string | null;
  readonly notNull: boolean;
  /** Of a true array: the oid of its element type. */
  readonly element: string | null;
  readonly labels: readonly string[] | null;
  /** `=` by a default operator class that an unqualified `=` finds. */
  readonly equality: boolean;
  /** `<` likewise, of btree. */
  readonly order: boolean;
}
