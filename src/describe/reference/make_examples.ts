import type { DescribedField, DescribedRow, DescribedTable, ServiceRequest } from "./described.ts";
import { exampleRow, exampleValue, isComparable, isNumber } from "./example_value.ts";

/** A request on a table, and what comes back. */
export interface TableExample {
  readonly id: ExampleId;
  readonly title: string;
  /** What it does, with code between backticks. */
  readonly text: string;
  readonly request: ServiceRequest;
  readonly response: unknown;
}

/** The operations that an example is made of. */
export type ExampleId =
  | "queryRecords"
  | "updateSingleRecord"
  | "updateBulkRecords"
  | "updateBatchOfRecords"
  | "listChanges";

/** A table as a token sees it, and a row of it whose values the examples have. */
export interface ExampleTable {
  readonly table: DescribedTable;
  readonly fields: readonly DescribedField[];
  readonly scopes: readonly string[];
  /** Left out: the values are made up. */
  readonly row?: DescribedRow;
}

const SELECTED_COLUMNS = 4;
/** Types of columns that sort rows into groups. */
const KINDS: ReadonlySet<string> = new Set(["int2", "int4", "int8", "uuid", "text", "bool"]);
const TRIAL = "`tx=rollback` makes this a trial: leave the header out to keep the change.";

/** Makes an example of each operation that a token has on a table. */
export function makeExamples(of: ExampleTable): readonly TableExample[] {
  const { table, fields, scopes } = of;
  if (fields.length === 0) return [];
  const queries = scopes.includes("query");
  const updates = table.writable && scopes.includes("update") && fields.some(isWritable);
  return [
    ...(queries ? [makeQuery(of)] : []),
    ...(updates ? [makeUpdate(of), makeBulkUpdate(of), makeBatch(of)] : []),
    ...(queries && table.changes ? [makeChanges(of)] : []),
  ];
}

function makeQuery({ table, fields, row }: ExampleTable): TableExample {
  const comparable = fields.filter((field) => isComparable(field, row));
  const key = fields.filter(({ primary_key }) => primary_key);
  const label = comparable.find(hasLabels);
  const number = comparable.find(({ type }) => type === "numeric") ??
    comparable.find(({ type, primary_key }) => isNumber(type) && !primary_key);
  const time = fields.find(({ type }) => type === "timestamptz" || type === "date");
  const conditions = [
    label && { field: label.name, op: "in", value: chooseLabels(label, row) },
    number && { field: number.name, op: "gte", value: exampleValue(number, row) },
  ].filter((condition) => condition !== undefined);
  const [first] = comparable;
  const columns = [...key, label, number, time, ...fields].filter((field) => field !== undefined);
  const selected = [...new Set(columns)].slice(0, Math.max(key.length, SELECTED_COLUMNS));
  const { name } = table;
  return {
    id: "queryRecords",
    title: "Query records",
    text:
      "One page of the rows that match, and how many match in all. Groups `and` and `or` may be " +
      "nested; `select` and `sort` may be left out. With `Prefer: page-token` the header `Link` leads " +
      "to the next page.",
    request: {
      method: "POST",
      path: `integration/tables/${name}/query`,
      body: {
        filters: {
          and: conditions.length > 0 || first === undefined
            ? conditions
            : [{ field: first.name, op: "eq", value: exampleValue(first, row) }],
        },
        select: selected.map((field) => field.name),
        ...(time !== undefined && { sort: [{ field: time.name, direction: "desc" }] }),
        per_page: 50,
      },
    },
    response: {
      success: true,
      table: name,
      page: 1,
      per_page: 50,
      total: 1,
      records: [exampleRow(selected, row)],
    },
  };
}

/** The label of the row and another one, in the order of the type. */
function chooseLabels(field: DescribedField, row: DescribedRow | undefined): readonly unknown[] {
  const own = exampleValue(field, row);
  const other = field.enum!.find((label) => label !== own);
  return field.enum!.filter((label) => label === own || label === other);
}

function makeUpdate(of: ExampleTable): TableExample {
  const { table: { name } } = of;
  const body = makeUpdateBody(of);
  return {
    id: "updateSingleRecord",
    title: "Update one record",
    text:
      "Changes exactly one row: 404 if none matches and 409 if several do, and then nothing is " +
      `changed. ${TRIAL}`,
    request: {
      method: "PATCH",
      path: `integration/tables/${name}/records/single`,
      body,
      prefer: "tx=rollback",
    },
    response: { success: true, table: name, matched: 1, updated: 1, fields: body.fields },
  };
}

function makeUpdateBody({ fields, row }: ExampleTable) {
  const key = fields.filter(({ primary_key }) => primary_key);
  const comparable = fields.filter((field) => isComparable(field, row));
  const writable = fields.filter(isWritable);
  const filtered = key.length > 0 ? key : comparable.slice(0, row === undefined ? 1 : 3);
  const changed = writable.find(hasLabels) ?? writable.find(isText) ?? writable[0];
  return {
    filters: exampleRow(filtered, row),
    fields: changed === undefined ? {} : { [changed.name]: makeNewValue(changed, row) },
  };
}

/** Another label than that of the row, where there are labels. */
function makeNewValue(field: DescribedField, row: DescribedRow | undefined): unknown {
  const own = exampleValue(field, row);
  if (row === undefined || !hasLabels(field)) return own;
  return field.enum!.find((label) => label !== own) ?? own;
}

/**
 * Moves rows from one label to another where there are labels, of those that are like the row in one more
 * column: pasted as it is, it must not touch half of a table.
 */
function makeBulkUpdate({ table: { name }, fields, row }: ExampleTable): TableExample {
  const writable = fields.filter(isWritable);
  const label = writable.find((field) => hasLabels(field) && field.enum!.length > 1);
  const matched = writable.find((field) => isComparable(field, row)) ??
    fields.find((field) => isComparable(field, row));
  const others = writable.filter((field) => field !== matched);
  const like = fields.find((field) =>
    field !== label && field.writable && KINDS.has(field.type) && isComparable(field, row)
  );
  const changed = others.find(isText) ?? others[0] ?? matched;
  const body = label !== undefined
    ? {
      filters: exampleRow(row !== undefined && like !== undefined ? [label, like] : [label], row),
      fields: { [label.name]: label.enum!.find((each) => each !== exampleValue(label, row)) },
    }
    : {
      filters: exampleRow(matched === undefined ? [] : [matched], row),
      fields: exampleRow(changed === undefined ? [] : [changed], row),
    };
  return {
    id: "updateBulkRecords",
    title: "Update many records",
    text:
      "Changes every row that matches. With `max-affected` it is 409, and nothing is changed, if " +
      `more rows match than that. ${TRIAL}`,
    request: {
      method: "PATCH",
      path: `integration/tables/${name}/records/bulk`,
      body,
      prefer: "tx=rollback, max-affected=1000",
    },
    response: { success: true, table: name, updated: 12 },
  };
}

function makeBatch(of: ExampleTable): TableExample {
  const { table: { name } } = of;
  return {
    id: "updateBatchOfRecords",
    title: "Update a batch of records",
    text: "Up to 200 updates of one record each, in one transaction: all of them or none. " + TRIAL,
    request: {
      method: "PATCH",
      path: `integration/tables/${name}/records/batch`,
      body: { updates: [makeUpdateBody(of)] },
      prefer: "tx=rollback",
    },
    response: { success: true, table: name, results: [{ matched: 1, updated: 1 }] },
  };
}

function makeChanges({ table: { name }, fields, row }: ExampleTable): TableExample {
  const key = exampleRow(fields.filter(({ primary_key }) => primary_key), row);
  const changes = [{ type: "upsert", key, record: exampleRow(fields, row) }];
  return {
    id: "listChanges",
    title: "Follow changes",
    text:
      "What changed since a cursor, deleted rows as well; `since=start` begins with every row. " +
      "Send the `cursor` of the response as `since` of the next request, at once while `more` is " +
      "true. `wait=30` holds the response until there is something.",
    request: {
      method: "GET",
      path: `integration/tables/${name}/changes?since=start&limit=1`,
    },
    response: { success: true, table: name, changes, cursor: "…", more: true },
  };
}

function isWritable({ writable }: DescribedField): boolean {
  return writable;
}

function hasLabels({ enum: labels }: DescribedField): boolean {
  return labels !== undefined && labels.length > 0;
}

function isText({ type }: DescribedField): boolean {
  return type === "text";
}
