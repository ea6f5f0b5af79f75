/** What is sent for a value, and the cell (Postgres's own text) that it means. */
export interface SentValue {
  readonly json: string | number | boolean;
  readonly cell: string;
}

/** A column of the oracle's table: how Postgres types it, prints it and orders it. */
export interface OracleColumn {
  readonly name: string;
  /** Type in the `create table`. */
  readonly type: string;
  /** Cells that rows hold, as Postgres prints them; few, so that conditions meet rows. */
  readonly cells: readonly string[];
  /** Other spellings of the same values, besides the cell itself as a string. */
  readonly spellings: readonly SentValue[];
  /** Negative, zero or positive, as Postgres orders two cells; undefined where collation decides. */
  readonly compare: ((a: string, b: string) => number) | undefined;
}
