import type { Column, ValueKind } from "../../catalogue/catalogue.ts";
import type { JsonSchema } from "./json_schema.ts";

/** What is no number in JSON, and comes as a string. */
const NOT_FINITE = { enum: ["NaN", "Infinity", "-Infinity"] };
const FRACTION = { anyOf: [{ type: "number" }, NOT_FINITE] };
const DECIMAL = { anyOf: [{ type: "number", format: "decimal" }, NOT_FINITE] };
const FRACTIONS: ReadonlySet<ValueKind> = new Set<ValueKind>(["float4", "float8", "numeric"]);

const INTEGERS: ReadonlySet<ValueKind> = new Set<ValueKind>(["int2", "int4", "int8"]);

/** By the kind of value, as Postgres prints it. */
const PRINTED: ReadonlyMap<ValueKind, JsonSchema> = new Map<ValueKind, JsonSchema>([
  ["boolean", { type: "boolean" }],
  ["int2", { type: "integer", minimum: -(2 ** 15), maximum: 2 ** 15 - 1 }],
  ["int4", { type: "integer", format: "int32" }],
  ["int8", { type: "integer", format: "int64" }],
  ["float4", FRACTION],
  ["float8", FRACTION],
  ["numeric", DECIMAL],
  ["text", { type: "string" }],
  ["uuid", { type: "string", format: "uuid" }],
  ["bytea", { type: "string", pattern: "^\\\\x([0-9a-f]{2})*$" }],
  ["composite", { type: "object" }],
]);

/** Types of kind `other` that are printed as strings; of those not named here nothing is said. */
const STRINGS: ReadonlyMap<string, JsonSchema> = new Map<string, JsonSchema>([
  ["date", { type: "string", format: "date" }],
  ["timestamptz", { type: "string", format: "date-time" }],
  ["interval", { type: "string", format: "duration" }],
  ...[
    "timestamp",
    "time",
    "timetz",
    "inet",
    "cidr",
    "macaddr",
    "macaddr8",
    "money",
    "xml",
    "bit",
    "varbit",
    "point",
    "box",
    "tsvector",
    "tsquery",
    "int4range",
    "int8range",
    "numrange",
    "daterange",
    "tsrange",
    "tstzrange",
  ].map((name): [string, JsonSchema] => [name, { type: "string" }]),
]);

/** Gives the schema of a column's value in a record. @see docs/specification/values.md */
export function describePrinted(column: Column): JsonSchema {
  const schema = describeKind(column, column.kind);
  const described = column.nullable ? allowNull(schema) : schema;
  const comment = column.comment === null ? "" : `${column.comment} `;
  const readOnly = column.readOnly === undefined ? {} : { readOnly: true };
  return { ...described, description: `${comment}(${column.type})`, ...readOnly };
}

/** Gives the schema of a new value for a column. @see U8, U9, U10 */
export function describeTaken(column: Column): JsonSchema {
  const described = describeTakenKind(column);
  return { ...(column.nullable ? allowNull(described) : described), description: column.type };
}

function describeKind(column: Column, kind: ValueKind): JsonSchema {
  if (kind === "enum") return { type: "string", enum: column.labels };
  if (kind === "json") return {};
  if (kind !== "array") return PRINTED.get(kind) ?? STRINGS.get(column.baseType) ?? {};
  const { elementKind } = column;
  const element = elementKind === undefined || elementKind === "other" || elementKind === "json"
    ? {}
    : { anyOf: [describeKind(column, elementKind), { type: ["null", "array"] }] };
  return { type: "array", items: element };
}

/** A string is what every type takes: it is read as Postgres reads it. */
function describeTakenKind({ kind, labels }: Column): JsonSchema {
  if (kind === "json") return {};
  if (kind === "array") return { type: "array", items: { type: SCALAR_TYPES } };
  if (kind === "enum") return { type: "string", enum: labels };
  if (kind === "boolean") return { anyOf: [{ type: ["boolean", "string"] }, { enum: [0, 1] }] };
  if (kind === "text") return { type: ["string", "number", "boolean"] };
  if (INTEGERS.has(kind)) return { type: ["integer", "string"] };
  return FRACTIONS.has(kind) ? { type: ["number", "string"] } : { type: "string" };
}

const SCALAR_TYPES = ["string", "number", "boolean", "null"];

function allowNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return schema;
  if (Array.isArray(schema.enum)) return { enum: [...schema.enum, null] };
  if (Array.isArray(schema.anyOf)) return { anyOf: [...schema.anyOf, { type: "null" }] };
  return { ...schema, type: [schema.type, "null"].flat() };
}
