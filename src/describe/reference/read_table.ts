import type { DescribedField, DescribedRow, DescribedTable, ServiceRequest } from "./described.ts";
import { isNumber, parseValue } from "./example_value.ts";
import { makeExamples, type TableExample } from "./make_examples.ts";

/** A table as a reference shows it. */
export interface TableReference {
  readonly table: DescribedTable;
  readonly fields: readonly DescribedField[];
  readonly examples: readonly TableExample[];
}

/**
 * Sends a request with the token, and 64-bit integers and `numeric` as strings; gives the body, or
 * undefined for an error.
 */
export type Send = (request: ServiceRequest) => Promise<unknown>;

/** What a token has on a table. */
export interface ReadOptions {
  readonly scopes: readonly string[];
  readonly send: Send;
  /** False: no row is read, and the values of the examples are made up. */
  readonly values?: boolean;
}

/** Rows of which the one with the fewest NULLs is the example. */
const ROWS_READ = 5;
const ROWS_SHOWN = 2;
const MAX_VALUE_CHARACTERS = 120;

/**
 * Reads a table for the reference: its columns, and examples with the values of one of its rows, of
 * which the query is really run. Undefined where the columns cannot be read.
 */
export async function readTable(
  table: DescribedTable,
  { scopes, send, values = true }: ReadOptions,
): Promise<TableReference | undefined> {
  const path = `integration/tables/${table.name}`;
  const described = await send({ method: "GET", path: `${path}/fields` }) as
    | { readonly fields: readonly DescribedField[] }
    | undefined;
  if (described === undefined) return undefined;
  const { fields } = described;
  const mayRead = values && scopes.includes("query");
  const row = mayRead ? await readRow({ table, fields }, send) : undefined;
  const examples = makeExamples({ table, fields, scopes, ...(row !== undefined && { row }) });
  if (row === undefined) return { table, fields, examples };
  return {
    table,
    fields,
    examples: await Promise.all(examples.map(async (example) => {
      if (example.id !== "queryRecords") return shorten(example, example.response);
      const { request } = example;
      const short = { ...request, body: { ...request.body as object, per_page: ROWS_SHOWN } };
      const page = await send(short) as PageBody | undefined;
      if (page === undefined) return shorten(example, example.response);
      const records = page.records.map((record) => toLiterals(record, fields));
      return shorten({ ...example, request: short }, { ...page, records });
    })),
  };
}

interface PageBody {
  readonly records: readonly DescribedRow[];
}

async function readRow(
  { table, fields }: { readonly table: DescribedTable; readonly fields: readonly DescribedField[] },
  send: Send,
): Promise<DescribedRow | undefined> {
  const sort = table.primary_key.filter((name) =>
    fields.some((field) => field.name === name && field.operators.includes("lt"))
  ).map((field) => ({ field }));
  const page = await send({
    method: "POST",
    path: `integration/tables/${table.name}/query`,
    body: { ...(sort.length > 0 && { sort }), per_page: ROWS_READ },
    prefer: "count=none",
  }) as PageBody | undefined;
  const count = (row: DescribedRow) => Object.values(row).filter((value) => value !== null).length;
  return page?.records.toSorted((one, other) => count(other) - count(one))[0];
}

/** Numbers as the service sends them by itself, where a double holds them. */
function toLiterals(row: DescribedRow, fields: readonly DescribedField[]): DescribedRow {
  const types = new Map(fields.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const type = types.get(name) ?? "";
      return [name, typeof value === "string" && isNumber(type) ? parseValue(value, type) : value];
    }),
  );
}

/** Cuts long values of a response that is only shown. */
function shorten(example: TableExample, response: unknown): TableExample {
  return { ...example, response: cut(response) };
}

function cut(value: unknown): unknown {
  if (typeof value === "string") {
    return value.length > MAX_VALUE_CHARACTERS
      ? `${value.slice(0, MAX_VALUE_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`
      : value;
  }
  if (Array.isArray(value)) return value.slice(0, ROWS_READ).map(cut);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item)]));
}
