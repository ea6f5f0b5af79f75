import type { Condition, Group, Node, QueryBody, Task } from "./work.ts";

/** The key, by which Rowgate continues every order. */
const KEY = ["tenant_id", "id"];
const PER_PAGE = 50;

/** Prints a request as PostgREST's query string, without the tenant. */
export function printSearch({ kind, body }: Pick<Task, "kind" | "body">): string {
  if ("fields" in body) {
    const conditions = Object.entries(body.filters).map(([name, value]) => `${name}=eq.${value}`);
    // Its result must be one object: one column of it is the least.
    return conditions.concat(kind === "single" ? ["select=id"] : []).map(escape).join("&");
  }
  return [...listFilters(body.filters), ...listRest(body)].map(escape).join("&");
}

/** Only what would end a value, or is no character of a URL. */
function escape(text: string): string {
  return encodeURI(text).replaceAll(/[&+#]/g, encodeURIComponent);
}

function listRest({ select = [], sort = [], page = 1, per_page = PER_PAGE }: QueryBody): string[] {
  const keys = sort.map(({ field, direction }) => direction === "asc" ? field : `${field}.desc`);
  const rest = KEY.filter((name) => !sort.some(({ field }) => field === name));
  return [
    ...(select.length === 0 ? [] : [`select=${select.join(",")}`]),
    ...(sort.length === 0 ? [] : [`order=${[...keys, ...rest].join(",")}`]),
    `limit=${per_page}`,
    ...(page === 1 ? [] : [`offset=${(page - 1) * per_page}`]),
  ];
}

/** All parameters must hold, so the items of an `and` are one each. */
function listFilters({ and, or }: Group): string[] {
  if (or !== undefined) return [`or=${printItems(or)}`];
  return and!.flatMap((node) => {
    if (!("field" in node)) return listFilters(node);
    return splitRange(node).map(({ field, op, value }) =>
      `${field}=${printTest(op, Array.isArray(value) ? printList(value) : String(value))}`
    );
  });
}

function printItems(nodes: readonly Node[]): string {
  return `(${nodes.map(printNode).join(",")})`;
}

function printNode(node: Node): string {
  if (!("field" in node)) {
    return node.and === undefined ? `or${printItems(node.or!)}` : `and${printItems(node.and)}`;
  }
  const range = splitRange(node);
  if (range.length > 1) return `and${printItems(range)}`;
  const { field, op, value } = node;
  return `${field}.${printTest(op, Array.isArray(value) ? printList(value) : quote(value))}`;
}

/** It has no `between`. */
function splitRange(condition: Condition): Condition[] {
  const { field, op, value } = condition;
  if (op !== "between") return [condition];
  const [low, high] = value as [unknown, unknown];
  return [{ field, op: "gte", value: low }, { field, op: "lte", value: high }];
}

function printTest(op: string, value: string): string {
  switch (op) {
    case "is_null":
      return "is.null";
    case "is_not_null":
      return "not.is.null";
    case "not_in":
    case "not_like":
      return `not.${op.slice(4)}.${value}`;
    default:
      return `${op}.${value}`;
  }
}

function printList(values: readonly unknown[]): string {
  return `(${values.map(quote).join(",")})`;
}

/** Within parentheses, most signs must be quoted. */
function quote(value: unknown): string {
  const text = String(value);
  return /^[\w-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
