import type { Contender, Result } from "./contender.ts";
import { readValue, startPeer } from "./peer.ts";
import type { Node, QueryBody, Task, UpdateBody } from "./work.ts";

/** Starts PostGraphile on Node. It has no bulk update, and a response to Q2W takes longer than a turn. */
export async function startPostgraphile(databaseUrl: string): Promise<Contender> {
  const ask = (content: object) => ({
    method: "POST",
    path: "/graphql",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });
  const first = ask({ query: "{ allContacts(first: 1) { nodes { id } } }" });
  return {
    ...await startPeer("postgraphile.js", databaseUrl, first),
    name: "postgraphile",
    works: ["Q1", "Q2", "Q3", "U1"],
    ask: (task) => ask(task.work === "U1" ? printUpdate(task) : printQuery(task)),
    read: readPostgraphile,
  };
}

const COLUMNS = "tenant_id,id,name,email,company,city,status,score,visits,list_id,notes,created_at"
  .split(",");

/** One text for each work, so that it is parsed once; the values are variables. */
function printQuery({ tenant, body }: Task) {
  const { filters, select = COLUMNS, sort = [], per_page: first = 50 } = body as QueryBody;
  const query = `query ($filter: ContactFilter, $order: [ContactsOrderBy!], $first: Int) {
    allContacts(filter: $filter, orderBy: $order, first: $first) {
      totalCount nodes { ${select.map(toCamel).join(" ")} } } }`;
  const keys = sort.map(({ field, direction }) => `${field}_${direction}`.toUpperCase());
  const order = keys.length === 0 ? undefined : [...keys, "TENANT_ID_ASC", "ID_ASC"];
  const filter = { and: [{ tenantId: { equalTo: String(tenant) } }, toFilter(filters)] };
  return { query, variables: { filter, order, first } };
}

/** By the key, as its mutation does: no row or one. */
function printUpdate({ tenant, body }: Task) {
  const { filters, fields } = body as UpdateBody;
  const query = `mutation ($tenant: BigInt!, $id: BigInt!, $patch: ContactPatch!) {
    updateContactByTenantIdAndId(input: { tenantId: $tenant, id: $id, contactPatch: $patch }) {
      contact { id } } }`;
  return { query, variables: { tenant: String(tenant), id: String(filters["id"]), patch: fields } };
}

const OPERATORS: Readonly<Record<string, string>> = {
  eq: "equalTo",
  gte: "greaterThanOrEqualTo",
};

function toFilter(node: Node): object {
  if (!("field" in node)) {
    const { and, or } = node;
    return and === undefined ? { or: or!.map(toFilter) } : { and: and.map(toFilter) };
  }
  const { field, op, value } = node;
  const name = toCamel(field);
  if (op === "between") {
    const [low, high] = value as [string, string];
    return { [name]: { greaterThanOrEqualTo: low, lessThanOrEqualTo: high } };
  }
  // Its 64 bit numbers are strings.
  return { [name]: { [OPERATORS[op]!]: name === "id" ? String(value) : value } };
}

function toCamel(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

interface Answered {
  readonly errors?: readonly unknown[];
  readonly data: {
    readonly allContacts?: { readonly totalCount: number; readonly nodes: readonly object[] };
    readonly updateContactByTenantIdAndId?: { readonly contact: object };
  };
}

async function readPostgraphile(response: Response): Promise<Result> {
  const text = await response.text();
  const { errors, data } = JSON.parse(text) as Answered;
  if (errors !== undefined) throw new Error(text);
  const page = data.allContacts;
  if (page === undefined) return { total: 1, records: [] };
  return { total: page.totalCount, records: page.nodes.map(readNode) };
}

function readNode(node: object): object {
  return Object.fromEntries(COLUMNS.flatMap((column) => {
    const value = (node as Record<string, unknown>)[toCamel(column)];
    if (value === undefined) return [];
    return [[column, readValue(column, value)]];
  }));
}
