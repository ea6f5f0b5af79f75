import type { Task } from "./work.ts";

const FIELDS = ["id", "name", "email", "company", "city", "status", "score", "visits", "list_id"];
const NUMBERS = new Set(["id", "score", "visits", "list_id"]);
const OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "is_null", "is_not_null"];
/** Columns that an update may set. */
const SET = FIELDS.slice(1);

/**
 * Makes queries that are all of different shape: a row by its key, and three conditions of any columns
 * and operators, chosen by the digits of its number.
 */
export function makeShapes(count: number): Task[] {
  return Array.from({ length: count }, (_, number) => makeLookUp(number));
}

/** Makes requests that are all of different shape: look-ups, lists with a sort, and bulk updates in turn. */
export function makeMixedShapes(count: number): Task[] {
  const makers = [makeLookUp, makeList, makeUpdate];
  return Array.from({ length: count }, (_, number) => {
    return makers[number % makers.length]!(Math.floor(number / makers.length));
  });
}

function makeLookUp(number: number): Task {
  const filters = {
    and: [{ field: "id", op: "eq", value: 1 + number }, { or: makeConditions(number) }],
  };
  return { tenant: 1, work: "Q1", kind: "query", shape: number, body: { filters } };
}

function makeList(number: number): Task {
  const filters = {
    and: [{ field: "list_id", op: "eq", value: 1 + number % 1000 }, { or: makeConditions(number) }],
  };
  const sort = [{ field: FIELDS[number % FIELDS.length]!, direction: "asc" as const }];
  return { tenant: 1, work: "Q3", kind: "query", shape: number, body: { filters, sort } };
}

/** It matches no row, so A changes nothing. */
function makeUpdate(number: number): Task {
  const chosen = (columns: readonly string[], digits: number) =>
    columns.filter((_, place) => digits >> place & 1);
  const fields = chosen(SET, 1 + number % (2 ** SET.length - 1));
  const filters = chosen(SET, Math.floor(number / (2 ** SET.length - 1)));
  const give = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, NUMBERS.has(name) ? -number - 1 : "none"]));
  const body = { filters: { id: -1, ...give(filters) }, fields: give(fields) };
  return { tenant: 1, work: "U2", kind: "bulk", shape: number, body };
}

function makeConditions(number: number) {
  const kinds = FIELDS.length * OPERATORS.length;
  return [0, 1, 2].map((digit) => makeCondition(Math.floor(number / kinds ** digit) % kinds));
}

function makeCondition(kind: number) {
  const field = FIELDS[kind % FIELDS.length]!;
  const op = OPERATORS[Math.floor(kind / FIELDS.length)]!;
  if (op.startsWith("is_")) return { field, op };
  return { field, op, value: NUMBERS.has(field) ? kind : `text ${kind}` };
}
