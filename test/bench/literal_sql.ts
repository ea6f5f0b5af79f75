import type { Group, Node, QueryBody, Task, UpdateBody } from "../../scripts/bench/work.ts";

/**
 * Prints a task as a person would write it in psql, with its values as literals: another reading of the
 * same request than the service's.
 */
export function printLiteralSql({ tenant, kind, body }: Task): string {
  if ("fields" in body) return printUpdate(tenant, body);
  if (kind !== "query") throw new Error(`${kind} without fields`);
  const { select = ["*"], sort = [], page = 1, per_page = 50 } = body as QueryBody;
  const order = sort.map(({ field, direction }) => `${field} ${direction}`);
  const where = `tenant_id = ${tenant} and ${printGroup(body.filters)}`;
  return `
    select (select count(*)::int4 from contacts where ${where}) total,
      coalesce(json_agg(page), '[]') records
    from (
      select ${select.join(", ")} from contacts where ${where}
      order by ${[...order, "tenant_id", "id"].join(", ")}
      limit ${per_page} offset ${(page - 1) * per_page}
    ) page`;
}

function printUpdate(tenant: number, { filters, fields }: UpdateBody): string {
  const list = (values: Readonly<Record<string, unknown>>, between: string) =>
    Object.entries(values).map(([name, value]) => `${name} = ${quote(value)}`).join(between);
  return `
    with written as (
      update contacts set ${list(fields, ", ")}
      where tenant_id = ${tenant} and ${list(filters, " and ")} returning 1
    )
    select count(*)::int4 total, '[]'::json records from written`;
}

function printGroup({ and, or }: Group): string {
  const items = (and ?? or)!.map(printNode);
  return `(${items.join(and === undefined ? " or " : " and ")})`;
}

function printNode(node: Node): string {
  if (!("field" in node)) return printGroup(node);
  const { field, op, value } = node;
  const list = Array.isArray(value) ? value.map(quote) : [];
  switch (op) {
    case "between":
      return `${field} between ${list[0]} and ${list[1]}`;
    case "in":
      return `${field} in (${list})`;
    case "not_in":
      return `${field} not in (${list})`;
    case "is_null":
      return `${field} is null`;
    case "is_not_null":
      return `${field} is not null`;
    default:
      return `${field} ${SIGNS[op]} ${quote(value)}`;
  }
}

const SIGNS: Readonly<Record<string, string>> = {
  eq: "=",
  neq: "<>",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
  like: "like",
  not_like: "not like",
};

function quote(value: unknown): string {
  return typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}
