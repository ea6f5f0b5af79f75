import type { Contender, Result } from "./contender.ts";
import { readValue, startPeer } from "./peer.ts";
import type { Node, QueryBody, Task } from "./work.ts";

/**
 * Starts Feathers on Node. It only reads: its update finds rows with the tenant and then writes by one
 * column of the key, which here also matches rows of other tenants.
 */
export async function startFeathers(databaseUrl: string): Promise<Contender> {
  const ask = (search: string) => ({
    method: "GET",
    path: `/contacts?${search}`,
    headers: {},
    body: "",
  });
  return {
    ...await startPeer("feathers.js", databaseUrl, ask("tenant_id=1&id=1")),
    name: "feathers",
    works: ["Q1", "Q2", "Q2W", "Q3"],
    ask: (task) => ask(printQuery(task)),
    read: readFeathers,
  };
}

/** Nested names, and a value. */
type Pair = readonly [path: readonly string[], value: unknown];

function printQuery({ tenant, body }: Task): string {
  const { filters, select = [], sort = [], per_page = 50 } = body as QueryBody;
  const order = [...sort, ...(sort.length === 0 ? [] : KEY)];
  const pairs: Pair[] = [
    [["tenant_id"], tenant],
    ...listPairs(filters, []),
    ...select.map((name): Pair => [["$select", ""], name]),
    ...order.map(({ field, direction }): Pair => [["$sort", field], SIGNS[direction]]),
    [["$limit"], per_page],
  ];
  const search = new URLSearchParams(pairs.map(([path, value]) => [toName(path), String(value)]));
  return search.toString();
}

const KEY = [{ field: "tenant_id", direction: "asc" }, { field: "id", direction: "asc" }] as const;
const SIGNS = { asc: 1, desc: -1 };
const OPERATORS: Readonly<Record<string, readonly string[]>> = { eq: [], gte: ["$gte"] };

/** All members of an object must hold, so a group of `and` needs no name. */
function listPairs(node: Node, path: readonly string[]): Pair[] {
  if (!("field" in node)) {
    const { and = [], or = [] } = node;
    return [
      ...and.flatMap((item) => listPairs(item, path)),
      ...or.flatMap((item, index) => listPairs(item, [...path, "$or", String(index)])),
    ];
  }
  const { field, op, value } = node;
  const place = [...path, field];
  if (op !== "between") return [[[...place, ...OPERATORS[op]!], value]];
  const [low, high] = value as [string, string];
  return [[[...place, "$gte"], low], [[...place, "$lte"], high]];
}

/** All names of a path but the first are in brackets. */
function toName([first = "", ...others]: readonly string[]): string {
  return first + others.map((name) => `[${name}]`).join("");
}

async function readFeathers(response: Response): Promise<Result> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const { total, data } = JSON.parse(text) as { total: number; data: Record<string, unknown>[] };
  return { total, records: data.map(readRow) };
}

/** Prints times as Postgres prints them in rows. */
function readRow(row: Record<string, unknown>): object {
  const entries = Object.entries(row).map(([name, value]) => {
    if (name !== "created_at") return [name, readValue(name, value)];
    return [name, String(value).replace(" ", "T").replace(/\+00$/, "+00:00")];
  });
  return Object.fromEntries(entries);
}
