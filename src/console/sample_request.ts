import type { Field, Row } from "./api.ts";
import { exampleOf, isNumber, parseValue } from "./value.ts";

/** The body of an example request, and the response to it. */
export interface Sample {
  readonly body?: unknown;
  readonly response: unknown;
}

const SELECTED_COLUMNS = 4;

/**
 * Makes up a request for a table and its response, from the types of the columns; undefined for an
 * unknown operation. The columns are real, the values are not.
 */
export function makeSample(
  operationId: string,
  { table, fields }: { readonly table: string; readonly fields: readonly Field[] },
): Sample | undefined {
  switch (operationId) {
    case "queryRecords":
      return sampleQuery(table, fields);
    case "updateSingleRecord":
      return sampleUpdate(table, fields);
    case "updateBulkRecords":
      return sampleBulkUpdate(table, fields);
    case "updateBatchOfRecords":
      return sampleBatch(table, fields);
    case "listChanges":
      return sampleChanges(table, fields);
    case "getFields":
      return { response: { success: true, table, fields: fields.slice(0, 1) } };
    default:
      return undefined;
  }
}

function sampleQuery(table: string, fields: readonly Field[]): Sample {
  const key = fields.filter(({ primary_key }) => primary_key);
  const label = fields.find(hasLabels);
  const number = fields.find(({ type }) => type === "numeric") ??
    fields.find(({ type, primary_key }) => isNumber(type) && !primary_key);
  const time = fields.find(({ type }) => type === "timestamptz" || type === "date");
  const conditions = [
    label && { field: label.name, op: "in", value: label.enum!.slice(0, 2) },
    number && { field: number.name, op: "gte", value: sampleValue(number) },
  ].filter((condition) => condition !== undefined);
  const [first] = fields.filter(isComparable);
  const columns = [...key, label, number, time, ...fields].filter((field) => field !== undefined);
  const selected = [...new Set(columns)].slice(0, Math.max(key.length, SELECTED_COLUMNS));
  return {
    body: {
      filters: {
        and: conditions.length > 0 || first === undefined
          ? conditions
          : [{ field: first.name, op: "eq", value: sampleValue(first) }],
      },
      select: selected.map(({ name }) => name),
      ...(time !== undefined && { sort: [{ field: time.name, direction: "desc" }] }),
      per_page: 50,
    },
    response: {
      success: true,
      table,
      page: 1,
      per_page: 50,
      total: 1,
      records: [sampleRow(selected)],
    },
  };
}

function sampleUpdate(table: string, fields: readonly Field[]): Sample {
  const key = fields.filter(({ primary_key }) => primary_key);
  const filters = sampleRow(key.length > 0 ? key : fields.filter(isComparable).slice(0, 1));
  const writable = fields.filter((field) => field.writable);
  const changed = writable.find(hasLabels) ?? writable.find(isText) ?? writable[0];
  const changes = sampleRow(changed === undefined ? [] : [changed]);
  return {
    body: { filters, fields: changes },
    response: { success: true, table, matched: 1, updated: 1, fields: changes },
  };
}

/** Moves rows from one label to another where there are labels, else changes two columns. */
function sampleBulkUpdate(table: string, fields: readonly Field[]): Sample {
  const writable = fields.filter((field) => field.writable);
  const label = writable.find((field) => hasLabels(field) && field.enum!.length > 1);
  const matched = writable.find(isComparable) ?? fields.find(isComparable);
  const others = writable.filter((field) => field !== matched);
  const changed = others.find(isText) ?? others[0] ?? matched;
  const body = label !== undefined
    ? { filters: { [label.name]: label.enum![0] }, fields: { [label.name]: label.enum![1] } }
    : {
      filters: sampleRow(matched === undefined ? [] : [matched]),
      fields: sampleRow(changed === undefined ? [] : [changed]),
    };
  return { body, response: { success: true, table, updated: 12 } };
}

function sampleBatch(table: string, fields: readonly Field[]): Sample {
  const { body } = sampleUpdate(table, fields);
  const results = [{ matched: 1, updated: 1 }];
  return { body: { updates: [body] }, response: { success: true, table, results } };
}

function sampleChanges(table: string, fields: readonly Field[]): Sample {
  const key = sampleRow(fields.filter(({ primary_key }) => primary_key));
  const changes = [{ type: "upsert", key, record: sampleRow(fields) }];
  return { response: { success: true, table, changes, cursor: "…", more: false } };
}

function sampleRow(fields: readonly Field[]): Row {
  return Object.fromEntries(fields.map((field) => [field.name, sampleValue(field)]));
}

function sampleValue({ type, enum: labels }: Field): unknown {
  if (labels?.[0] !== undefined) return labels[0];
  if (type === "bool") return true;
  if (type === "json" || type === "jsonb") return {};
  if (type.endsWith("[]")) return [];
  return parseValue(exampleOf(type), type) || "text";
}

function isComparable({ operators }: Field): boolean {
  return operators.includes("eq");
}

function hasLabels({ enum: labels }: Field): boolean {
  return labels !== undefined && labels.length > 0;
}

function isText({ type }: Field): boolean {
  return type === "text";
}
