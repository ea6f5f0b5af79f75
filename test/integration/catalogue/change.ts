/** A change of the schema, and the tables that the next reading must describe again because of it. */
export interface Change {
  /** Statements, each in a transaction of its own; `READER` is the role, `TEAM` another one. */
  readonly statements: readonly string[];
  /** Left out where only other parts of the catalogue change, or nothing. */
  readonly describes?: readonly string[];
  /** True where every table is described again. */
  readonly describesAll?: boolean;
}
