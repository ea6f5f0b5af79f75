import type { Node, QueryBody } from "./work.ts";
import type { Variant } from "./grid_shapes.ts";

/** Columns whose values are numbers; all others are texts or times. */
const NUMBERS = new Set(["id", "owner_id", "amount"]);

/** Writes a request as one would by hand: every value a literal, page and total in one statement. */
export function printLiteral(
  table: string,
  tenant: number,
  { body, count, after }: Variant,
): string {
  const behind = after === undefined ? "" : ` and ${printBehind(body.sort, after)}`;
  const rows = `from ${table} where tenant_id = ${tenant} and ${printNode(body.filters)}${behind}`;
  const { page = 1, per_page: perPage = 50 } = body;
  const offset = (page - 1) * perPage;
  return `select (${count ? `select count(*) ${rows}` : "select null"})::text as total,
    (select coalesce(json_agg("$r"), '[]') from (
      select * ${rows} ${printOrder(body.sort)} limit ${perPage} offset ${offset}
    ) "$r")::text as records`;
}

function printOrder(sort: QueryBody["sort"] = []): string {
  if (sort.length === 0) return "";
  const keys = sort.map(({ field, direction }) => `${field} ${direction}`);
  // The key makes the order complete, as in the service.
  const last = ["tenant_id", "id"].filter((key) => sort.every(({ field }) => field !== key));
  return `order by ${[...keys, ...last].join(", ")}`;
}

/** The rows behind one, in an order of at most one column and the key. */
function printBehind(sort: QueryBody["sort"], after: Readonly<Record<string, string>>): string {
  const [first] = sort!;
  const id = `id > ${after["id"]}`;
  if (first!.field === "id") return id;
  const { field, direction } = first!;
  const value = printValue(field, after[field]);
  if (direction === "asc") return `(${field}, id) > (${value}, ${after["id"]})`;
  return `${field} <= ${value} and (${field} < ${value} or ${id})`;
}

function printNode(node: Node): string {
  if ("field" in node) return printCondition(node);
  const { and, or } = node;
  const items = (and ?? or ?? []).map(printNode);
  if (items.length === 0) return and === undefined ? "false" : "true";
  return `(${items.join(and === undefined ? " or " : " and ")})`;
}

function printCondition({ field, op, value }: Extract<Node, { field: string }>): string {
  switch (op) {
    case "eq":
      return `${field} = ${printValue(field, value)}`;
    case "between": {
      const [low, high] = value as readonly unknown[];
      return `${field} between ${printValue(field, low)} and ${printValue(field, high)}`;
    }
    case "in":
      return `${field} in (${(value as readonly unknown[]).map((one) => printValue(field, one))})`;
    case "like":
      return `${field} like ${printValue(field, value)}`;
    case "is_null":
      return `${field} is null`;
    case "is_not_null":
      return `${field} is not null`;
  }
  throw new Error(`${op} is not written by hand yet`);
}

function printValue(field: string, value: unknown): string {
  return NUMBERS.has(field) ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}
