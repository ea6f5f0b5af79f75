import type { Column } from "../../../catalogue/catalogue.ts";
import type { ValueKind } from "../../../catalogue/value_kind.ts";
import type { JsonSchema } from "../../../operations/schemas/json_schema.ts";

/** How the values of columns are described. */
export interface ValueStyle {
  /** True: only what is needed to type rows, with references to what tables share. */
  readonly isBrief: boolean;
  /** True: columns that an update can set have only names. */
  readonly isTerse: boolean;
  /** Returns a schema, or a reference to it. */
  readonly share: (schema: JsonSchema, column: Column) => JsonSchema;
}

/** JSON has no numbers for these: they come as strings. */
const NOT_FINITE = { enum: ["NaN", "Infinity", "-Infinity"] };
const FRACTION = { anyOf: [{ type: "number" }, NOT_FINITE] };
const DECIMAL = { anyOf: [{ type: "number", format: "decimal" }, NOT_FINITE] };
const FRACTIONS: ReadonlySet<ValueKind> = new Set<ValueKind>(["float4", "float8", "numeric"]);

const INTEGERS: ReadonlySet<ValueKind> = new Set<ValueKind>(["int2", "int4", "int8"]);

/** Values as Postgres prints them, by kind. */
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
  ["composite", { type: "object", additionalProperties: true }],
]);

/** Types of kind `other` that are printed as strings. Others are left without a schema. */
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

/** Describes the value of a column in a record. @see docs/specification/values.md */
export function describeValue(column: Column, { isBrief, isTerse, share }: ValueStyle): JsonSchema {
  const schema = describeKind(column, column.kind);
  const described = share(column.nullable ? allowNull(schema) : schema, column);
  const { comment, timeZone } = column;
  // The time zone of a value is always described.
  const type = isBrief && timeZone === undefined ? null : `(${describeType(column)})`;
  // A terse document leaves comments to Get Fields.
  const text = [isTerse ? null : comment, type].filter((part) => part !== null).join(" ");
  const readOnly = column.readOnly === undefined ? {} : { readOnly: true };
  return { ...described, ...(text !== "" && { description: text }), ...readOnly };
}

/** Describes a new value for a column. @see U8, U9, U10 */
export function describeNewValue(column: Column, { isBrief, share }: ValueStyle): JsonSchema {
  const described = describeNewKind(column);
  const schema = share(column.nullable ? allowNull(described) : described, column);
  return isBrief ? schema : { ...schema, description: describeType(column) };
}

/**
 * Describes a type, with the base type of a domain and the time zone of a type without one.
 * @see T69, T77
 */
function describeType({ type, baseType, timeZone }: Column): string {
  const whole = type === baseType ? type : `${type}, a domain of ${baseType}`;
  return timeZone === undefined ? whole : `${whole} in the time zone ${timeZone}`;
}

function describeKind(column: Column, kind: ValueKind): JsonSchema {
  if (kind === "enum") return { type: "string", enum: column.labels };
  if (kind === "json") return {};
  if (kind !== "array") return PRINTED.get(kind) ?? STRINGS.get(column.baseType) ?? {};
  const { elementKind } = column;
  const element = elementKind === undefined || elementKind === "other" || elementKind === "json"
    ? {}
    : { anyOf: [describeKind(column, elementKind), { type: ["null", "array"], items: {} }] };
  return { type: "array", items: element };
}

/** Describes the JSON that a new value may be. Every type takes a string, which Postgres parses. */
function describeNewKind({ kind, labels }: Column): JsonSchema {
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
