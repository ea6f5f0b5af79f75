/**
 * The names of a table in the database and the policy, which may differ from the name for clients.
 * @see T70, T73
 */
export interface StoredTable {
  readonly schema: string;
  readonly name: string;
  /** Its key in `tables` of the policy. */
  readonly policyKey: string;
}
