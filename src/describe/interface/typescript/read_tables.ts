import { NAME_PATTERN } from "../../../basics/errors/limits.ts";
import type { JsonSchema } from "../../../operations/schemas/json_schema.ts";

/** A column, as the OpenAPI document describes it. */
export interface TypedColumn {
  readonly name: string;
  /** The schema of its value in a record. */
  readonly value: JsonSchema;
  /** The schema of a new value; undefined if updates cannot set it. */
  readonly newValue: JsonSchema | undefined;
  readonly operators: ReadonlySet<string>;
}

/** A column of a new record. */
export interface CreatedColumn extends Pick<TypedColumn, "name" | "value"> {
  readonly newValue: JsonSchema;
  readonly required: boolean;
}

/** A table, as the OpenAPI document describes it. */
export interface TypedTable {
  readonly name: string;
  readonly description: string;
  readonly primaryKey: readonly string[];
  readonly columns: readonly TypedColumn[];
  /** The columns that a new record can set; undefined if the token may create none. */
  readonly created: readonly CreatedColumn[] | undefined;
  /** True if the token may update it. */
  readonly writable: boolean;
}

const RECORD = ".Record";

/**
 * Reads the schema of a new value. A document of many tables has only the name: then it is like the
 * value in a record, or a string.
 */
function readNewValue(schema: unknown, value: unknown): JsonSchema | undefined {
  if (!isObject(schema)) return undefined;
  const known = Object.keys(schema).length > 0 || !isObject(value) ||
    Object.keys(value).length === 0;
  return known ? schema : { anyOf: [value, { type: "string" }] };
}

/**
 * Reads the tables of a token from its OpenAPI document, sorted by name.
 * @throws {Error} if the document is not one of Rowgate's
 */
export function readTypedTables(document: unknown): readonly TypedTable[] {
  const schemas = get(document, "components", "schemas");
  if (!isObject(schemas) || !isObject(get(document, "paths"))) {
    throw new Error("it is not the OpenAPI document of Rowgate");
  }
  const names = Object.keys(schemas).filter((name) => name.endsWith(RECORD))
    .map((name) => name.slice(0, -RECORD.length)).sort();
  // Names of tables become names of types, so they must not contain code.
  const wrong = names.find((name) => !NAME_PATTERN.test(name));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is not the name of a table`);
  return names.map((name) => readTable(document, name));
}

function readTable(document: unknown, name: string): TypedTable {
  const schema = (part: string) => get(document, "components", "schemas", `${name}.${part}`);
  const record = schema("Record");
  const writable = isObject(
    get(document, "paths", `/integration/tables/${name}/records/single`, "patch"),
  );
  const newValue = writable ? get(schema("Update"), "properties", "fields", "properties") : {};
  const operators = readOperators(schema("Condition"));
  const key = get(record, "x-primary-key");
  return {
    name,
    description: String(get(record, "description") ?? ""),
    primaryKey: Array.isArray(key) ? key.map(String) : [],
    columns: Object.entries(get(record, "properties") ?? {}).map(([column, value]) => ({
      name: column,
      value: isObject(value) ? value : {},
      newValue: readNewValue(get(newValue, column), value),
      operators: operators.get(column) ?? new Set(),
    })),
    created: readCreated(get(schema("Create"), "properties", "records", "items"), record),
    writable,
  };
}

/** Reads the columns of a new record. A document of many tables does not have them. */
function readCreated(created: unknown, record: unknown): CreatedColumn[] | undefined {
  const properties = get(created, "properties");
  if (!isObject(properties)) return undefined;
  const required = get(created, "required");
  return Object.entries(properties).map(([name, newValue]) => {
    const value = get(record, "properties", name);
    return {
      name,
      value: isObject(value) ? value : {},
      newValue: isObject(newValue) ? newValue : {},
      required: Array.isArray(required) && required.includes(name),
    };
  });
}

/**
 * Reads the operators of each column. Columns with the same operators share a schema; a schema for
 * null only compares with null.
 */
function readOperators(condition: unknown): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  const parts = get(condition, "allOf");
  for (const part of Array.isArray(parts) ? parts : []) {
    const groups = get(part, "anyOf");
    for (const group of Array.isArray(groups) ? groups : [part]) {
      const [fields, operators] = ["field", "op"].map((key) =>
        get(group, "properties", key, "enum")
      );
      if (!Array.isArray(fields) || !Array.isArray(operators)) continue;
      if (get(group, "properties", "value") !== undefined) continue;
      for (const field of fields) found.set(String(field), new Set(operators.map(String)));
    }
  }
  return found;
}

function get(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
