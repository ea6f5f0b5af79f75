import type { Column, Table } from "../../../catalogue/catalogue.ts";
import type { ValueKind } from "../../../catalogue/value_kind.ts";
import { operatorsOf } from "../../../records/plan/condition.ts";
import { type JsonSchema, objectOf, refer } from "../../../operations/schemas/json_schema.ts";
import {
  describeBatch,
  describeRecordsBody,
} from "../../../operations/schemas/response_schemas.ts";
import type { Brevity } from "./brevity.ts";

/** How tables are described. */
interface Style {
  /** True: only what is needed to type rows, with references to what tables share. */
  readonly isBrief: boolean;
  /** True: columns that an update can set have only names. */
  readonly isTerse: boolean;
  /** Reports whether the token can get a response. */
  readonly answers: (response: string) => boolean;
  /** Returns a schema, or a reference to it. */
  readonly share: (schema: JsonSchema, column: Column) => JsonSchema;
}

/**
 * Describes the bodies of requests and responses for each table, by name: `deals.Record`, `deals.Query`
 * and its parts, `deals.Update` and `deals.Batch` if the table is writable, `deals.Create` and
 * `deals.Delete`. In a brief document queries have no schema of their own, and columns of a type refer to
 * one schema.
 * @see T47, H26
 */
export function describeTableSchemas(
  tables: readonly Table[],
  { brevity, answers }: { readonly brevity: Brevity } & Pick<Style, "answers">,
): Readonly<Record<string, JsonSchema>> {
  const [isBrief, isTerse] = [brevity !== "full", brevity === "terse"];
  const shared = new Map<string, { readonly name: string; readonly schema: JsonSchema }>();
  const names = new Set<string>();
  const share: Style["share"] = (schema, { type }) => {
    const text = JSON.stringify(schema);
    if (!isBrief || text.length < SHARED_CHARACTERS) return schema;
    let found = shared.get(text);
    if (found === undefined) {
      const stem = `Value.${type.replaceAll(/[^A-Za-z0-9_]/g, "_")}`;
      let name = stem;
      for (let next = 2; names.has(name); next++) name = `${stem}.${next}`;
      names.add(name);
      found = { name, schema };
      shared.set(text, found);
    }
    return refer(found.name);
  };
  const described: Record<string, JsonSchema> = isBrief ? { Filters: ANY_FILTERS } : {};
  for (const table of tables) {
    Object.assign(described, describeTable(table, { isBrief, isTerse, answers, share }));
  }
  for (const { name, schema } of shared.values()) described[name] = schema;
  return described;
}

/** Length up to which a schema is no longer than a reference. */
const SHARED_CHARACTERS = 50;

function describeTable(table: Table, style: Style): Readonly<Record<string, JsonSchema>> {
  const { name } = table;
  const { isBrief } = style;
  const columns = [...table.columns.values()];
  const key = table.primaryKey.map((column) => column.name);
  const record = objectOf(
    Object.fromEntries(columns.map((column) => [column.name, describeValue(column, style)])),
    columns.map((column) => column.name),
  );
  const text = `A row of ${name}; only the columns of \`select\` when given.`;
  const description = table.comment ?? (isBrief ? undefined : text);
  return {
    [`${name}.Record`]: {
      ...record,
      ...(description !== undefined && { description }),
      ...(key.length > 0 && { "x-primary-key": key }),
    },
    ...(!isBrief && describeQuery(table)),
    ...(table.writable && {
      [`${name}.Update`]: describeUpdate(table, style),
      ...(!isBrief && { [`${name}.Batch`]: describeBatch(refer(`${name}.Update`)) }),
    }),
    ...(style.answers("Created") && !isBrief && table.creatable && {
      [`${name}.Create`]: describeRecordsBody(describeNewRecord(table, style)),
    }),
    ...(style.answers("DeletedSingle") && !isBrief && table.deletable && {
      [`${name}.Delete`]: objectOf({ filters: describeFilters(columns) }),
    }),
  };
}

/** Describes a query with the columns of a table, and the operators that each allows. */
function describeQuery({ name, columns }: Table): Readonly<Record<string, JsonSchema>> {
  const field = refer(`${name}.Field`);
  const group = { type: "array", items: refer(`${name}.Filter`) };
  const query = {
    filters: refer(`${name}.Group`),
    select: { type: "array", items: field, description: "Columns to return; all if omitted." },
    sort: {
      type: "array",
      items: objectOf({ field, direction: refer("Direction") }, ["direction"]),
    },
    page: refer("PageNumber"),
    per_page: refer("RowsPerPage"),
  };
  const byOperators = groupByOperators([...columns.values()]);
  const groups = byOperators.length > 1 ? [{ anyOf: byOperators }] : byOperators;
  return {
    [`${name}.Field`]: { type: "string", enum: [...columns.keys()] },
    [`${name}.Condition`]: { allOf: [refer("Condition"), ...groups] },
    [`${name}.Filter`]: { anyOf: [refer(`${name}.Condition`), refer(`${name}.Group`)] },
    [`${name}.Group`]: { anyOf: [objectOf({ and: group }), objectOf({ or: group })] },
    // Not by reference to `Query`: TypeScript does not narrow lists in an intersection.
    [`${name}.Query`]: objectOf(query, Object.keys(query)),
  };
}

const ANY_FILTERS: JsonSchema = {
  type: "object",
  description: "Columns and the values that they must equal; null matches NULL. All must match.",
  propertyNames: refer("Name"),
  additionalProperties: refer("Scalar"),
  minProperties: 1,
};

function describeUpdate({ columns }: Table, style: Style): JsonSchema {
  const all = [...columns.values()];
  const writable = all.filter((column) => column.readOnly === undefined);
  const { isBrief, isTerse } = style;
  const fields = Object.fromEntries(
    writable.map((column) => [column.name, isTerse ? {} : describeNewValue(column, style)]),
  );
  if (isBrief) {
    const properties = {
      filters: refer("Filters"),
      fields: { type: "object", properties: fields },
    };
    return { type: "object", properties, required: Object.keys(properties) };
  }
  return objectOf({ filters: describeFilters(all), fields: atLeastOne(fields) });
}

/** Describes the columns and values by which a write finds its rows. */
function describeFilters(columns: readonly Column[]): JsonSchema {
  return atLeastOne(Object.fromEntries(
    columns.map(({ name, equality }) => [name, equality ? refer("Scalar") : { type: "null" }]),
  ));
}

function atLeastOne(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { ...objectOf(properties, Object.keys(properties)), minProperties: 1 };
}

/** Describes a new record: what it can set, and what it must. @see CR5 */
function describeNewRecord({ columns }: Table, style: Style): JsonSchema {
  const settable = [...columns.values()].filter(({ unset }) => unset === undefined);
  const properties = Object.fromEntries(
    settable.map((column) => [column.name, describeNewValue(column, style)]),
  );
  const optional = settable.filter(({ required }) => !required).map(({ name }) => name);
  return objectOf(properties, optional);
}

/** Makes one schema for all columns with the same operators. */
function groupByOperators(columns: readonly Column[]): readonly JsonSchema[] {
  const groups = new Map<string, { field: string[]; op: readonly string[] }>();
  for (const column of columns) {
    const op = operatorsOf(column);
    const group = groups.get(op.join()) ?? { field: [], op };
    group.field.push(column.name);
    groups.set(op.join(), group);
  }
  const byOperators = [...groups.values()].map(({ field, op }) => ({
    properties: { field: { enum: field }, op: { enum: op } },
  }));
  const unequal = columns.filter((column) => !column.equality).map((column) => column.name);
  if (unequal.length === 0) return byOperators;
  // `eq` null means `is_null`, which every type allows.
  const nullTest = { op: { enum: ["eq", "neq"] }, value: { type: "null" } };
  return [...byOperators, { properties: { field: { enum: unequal }, ...nullTest } }];
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
function describeValue(column: Column, { isBrief, isTerse, share }: Style): JsonSchema {
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
function describeNewValue(column: Column, { isBrief, share }: Style): JsonSchema {
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
