import type { Column, Table } from "../../../catalogue/catalogue.ts";
import { operatorsOf } from "../../../records/plan/condition.ts";
import { type JsonSchema, objectOf, refer } from "../../../operations/schemas/json_schema.ts";
import {
  describeBatch,
  describeRecordsBody,
  describeUpsertBody,
} from "../../../operations/schemas/response_schemas.ts";
import type { Brevity } from "./brevity.ts";
import { describeNewValue, describeValue, type ValueStyle } from "./value_schemas.ts";

/** How tables are described. */
interface Style extends ValueStyle {
  /** Reports whether the document has an operation with a response. */
  readonly answers: (response: string) => boolean;
}

/**
 * Describes the bodies of requests and responses for each table, by name: `deals.Record`, `deals.Query`
 * and its parts, `deals.Update` and `deals.Batch` if the table is writable, `deals.Create`,
 * `deals.Upsert` and `deals.Delete`. In a brief document queries have no schema of their own, and
 * columns of a type refer to one schema.
 * @see T47, H26
 */
export function describeTableSchemas(
  tables: readonly Table[],
  { brevity, answers }: Pick<Style, "answers"> & { readonly brevity: Brevity },
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
    ...(style.answers("Upserted") && !isBrief && table.matchKeys.length > 0 && {
      [`${name}.Upsert`]: describeUpsert(table, style),
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

/** Describes an upsert: what a new record or an update can set. @see UP7, UP8 */
function describeUpsert({ columns, matchKeys }: Table, style: Style): JsonSchema {
  const settable = [...columns.values()].filter(({ unset, readOnly }) =>
    unset === undefined || readOnly === undefined
  );
  const properties = Object.fromEntries(
    settable.map((column) => [column.name, describeNewValue(column, style)]),
  );
  const keys = matchKeys.map((key) => key.map(({ name }) => name));
  return describeUpsertBody(objectOf(properties, Object.keys(properties)), keys);
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
