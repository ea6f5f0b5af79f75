/** Why an update, or a new record, cannot set a column. */
export type ReadOnlyReason =
  | "primary key"
  | "tenant"
  | "generated"
  | "identity"
  | "policy"
  | "privilege"
  | "composite"
  | "names objects"
  | "reference";
