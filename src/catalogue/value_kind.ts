/** What kind of value a column takes, by its base type; a domain has the kind of its base type. */
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
