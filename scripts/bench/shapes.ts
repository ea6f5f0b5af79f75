import type { Task } from "./work.ts";

const FIELDS = ["id", "name", "email", "company", "city", "status", "score", "visits", "list_id"];
const NUMBERS = new Set(["id", "score", "visits", "list_id"]);
const OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "is_null", "is_not_null"];

/**
 * Makes queries that are all of different shape: a row by its key, and three conditions of any columns
 * and operators, chosen by the digits of its number.
 */
export function makeShapes(count: number): Task[] {
  const kinds = FIELDS.length * OPERATORS.length;
  return Array.from({ length: count }, (_, number) => {
    const items = [0, 1, 2].map((digit) =>
      makeCondition(Math.floor(number / kinds ** digit) % kinds)
    );
    const filters = {
      and: [{ field: "id", op: "eq", value: 1 + number }, { or: items }],
    };
    return { tenant: 1, work: "Q1", body: { filters }, search: "" };
  });
}

function makeCondition(kind: number): object {
  const field = FIELDS[kind % FIELDS.length]!;
  const op = OPERATORS[Math.floor(kind / FIELDS.length)]!;
  if (op.startsWith("is_")) return { field, op };
  return { field, op, value: NUMBERS.has(field) ? kind : `text ${kind}` };
}
