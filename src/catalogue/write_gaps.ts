/** A right that the role lacks, although nothing else speaks against what it is for. */
export interface LackingRight {
  readonly right: "insert" | "delete" | "update";
  /** The only column that needs it: the one by which a delete marks a row. @see DE15 */
  readonly column?: string;
  /** The policy says in so many words that clients may do it. */
  readonly isAsked: boolean;
}

/** What keeps clients from creating and deleting rows. */
export interface WriteGaps {
  /** Rights that the role lacks. */
  readonly rights: readonly LackingRight[];
  /** Columns that a new row must have and no client can set, by their names in the database. */
  readonly unsettable: readonly string[];
}
