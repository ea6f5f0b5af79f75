import type { Column, Table } from "../../catalogue/catalogue.ts";
import { operatorsOf } from "../../plan/condition.ts";
import { describePrinted, describeTaken } from "./column_schema.ts";
import { type JsonSchema, objectOf, refer } from "./json_schema.ts";

/**
 * Gives the schemas of one table by name: its records, what may stand in a filter on it, and, where
 * it can be written, its updates. `deals.Record`, `deals.Query`, `deals.Update`.
 * @see T47
 */
export function describeTable(table: Table): Readonly<Record<string, JsonSchema>> {
  const { name } = table;
  const columns = [...table.columns.values()];
  const key = table.primaryKey.map((column) => column.name);
  const record = objectOf(
    Object.fromEntries(columns.map((column) => [column.name, describePrinted(column)])),
    columns.map((column) => column.name),
  );
  const named = { type: "string", enum: columns.map((column) => column.name) };
  const group = { type: "array", items: refer(`${name}.Filter`) };
  const byOperators = groupByOperators(columns);
  const groups = byOperators.length > 1 ? [{ anyOf: byOperators }] : byOperators;
  return {
    [`${name}.Record`]: {
      ...record,
      description: table.comment ?? `A row of ${name}; only the columns of \`select\` when given.`,
      ...(key.length > 0 && { "x-primary-key": key }),
    },
    [`${name}.Condition`]: { allOf: [refer("Condition"), ...groups] },
    [`${name}.Filter`]: { anyOf: [refer(`${name}.Condition`), refer(`${name}.Group`)] },
    [`${name}.Group`]: { anyOf: [objectOf({ and: group }), objectOf({ or: group })] },
    [`${name}.Query`]: {
      allOf: [refer("Query")],
      properties: {
        filters: refer(`${name}.Group`),
        select: { type: "array", items: named },
        sort: { type: "array", items: { properties: { field: named } } },
      },
    },
    ...(table.writable && { [`${name}.Update`]: describeUpdate(table) }),
  };
}

function describeUpdate({ columns }: Table): JsonSchema {
  const all = [...columns.values()];
  const writable = all.filter((column) => column.readOnly === undefined);
  const filters = Object.fromEntries(
    all.map(({ name, equality }) => [name, equality ? refer("Scalar") : { type: "null" }]),
  );
  const fields = Object.fromEntries(writable.map((column) => [column.name, describeTaken(column)]));
  const atLeastOne = (properties: Readonly<Record<string, JsonSchema>>) => ({
    ...objectOf(properties, Object.keys(properties)),
    minProperties: 1,
  });
  return objectOf({ filters: atLeastOne(filters), fields: atLeastOne(fields) });
}

/** Columns that admit the same operators stand together. */
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
  // To equal null is a test for it, which every type has.
  const nullTest = { op: { enum: ["eq", "neq"] }, value: { type: "null" } };
  return [...byOperators, { properties: { field: { enum: unequal }, ...nullTest } }];
}
