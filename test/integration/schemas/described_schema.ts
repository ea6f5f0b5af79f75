/** A database as an operator has it, of which the test knows whose each row is. */
export interface DescribedSchema {
  readonly name: string;
  /** Creates and fills everything, as the owner. */
  readonly sql: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly policy: { readonly tables: Readonly<Record<string, object>> };
  /** Two tenants that have rows in every table that is not shared. */
  readonly tenants: readonly [string, string];
  /** By what clients call the tables: the rows of the tenant `$1`, each once, under the alias `t`. */
  readonly rows: Readonly<Record<string, string>>;
  /** A table that has a changes feed, in place of the `orders` of the operators' page. */
  readonly followed: string;
  /** Findings of doctor that are left when all that it prints was run, each with the reason. */
  readonly left: readonly RegExp[];
}
