import type { Contender, Result } from "./contender.ts";
import { findFreePort, launch, until } from "./processes.ts";
import type { Node, QueryBody, Task } from "./work.ts";

const FILE = "scripts/bench/packages/feathers.js";

/**
 * Starts Feathers on Node. It reads alone: its update looks for the rows with the tenant and then writes
 * by one column of the key, which here are other tenants' rows too.
 */
export async function startFeathers(databaseUrl: string): Promise<Contender> {
  const port = await findFreePort();
  const environment = { PORT: String(port), DATABASE_URL: databaseUrl, NODE_ENV: "production" };
  const child = launch(["node", FILE], { environment });
  const address = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${address}/contacts?$limit=1&tenant_id=1&id=1`)).ok, child);
  return {
    name: "feathers",
    kind: "peer",
    works: ["Q1", "Q2", "Q2W", "Q3"],
    address,
    pid: child.pid,
    ask: (task) => ({
      method: "GET",
      path: `/contacts?${printQuery(task)}`,
      headers: {},
      body: "",
    }),
    read: readFeathers,
    stop: () => child.stop(),
  };
}

type Pair = readonly [path: string, value: unknown];

function printQuery({ tenant, body }: Task): string {
  const { filters, select = [], sort = [], per_page } = body as QueryBody;
  const order = [...sort, ...(sort.length === 0 ? [] : KEY)];
  const pairs: Pair[] = [
    ["[tenant_id]", tenant],
    ...listPairs(filters, ""),
    ...select.map((name): Pair => ["[$select][]", name]),
    ...order.map(({ field, direction }): Pair => [`[$sort][${field}]`, SIGNS[direction]]),
    ["[$limit]", per_page ?? 50],
  ];
  const search = new URLSearchParams(pairs.map(([path, value]) => [toName(path), String(value)]));
  return search.toString();
}

const KEY = [{ field: "tenant_id", direction: "asc" }, { field: "id", direction: "asc" }] as const;
const SIGNS = { asc: 1, desc: -1 };
const OPERATORS: Readonly<Record<string, string>> = { eq: "", gte: "[$gte]" };

/** The members of an object are all to be met, so a group of `and` needs no name. */
function listPairs(node: Node, path: string): Pair[] {
  if (!("field" in node)) {
    const { and = [], or = [] } = node;
    return [
      ...and.flatMap((item) => listPairs(item, path)),
      ...or.flatMap((item, index) => listPairs(item, `${path}[$or][${index}]`)),
    ];
  }
  const { field, op, value } = node;
  const place = `${path}[${field}]`;
  if (op !== "between") return [[`${place}${OPERATORS[op]!}`, value]];
  const [low, high] = value as [string, string];
  return [[`${place}[$gte]`, low], [`${place}[$lte]`, high]];
}

/** The first name of a path stands without brackets. */
function toName(path: string): string {
  return path.replace(/^\[(.*?)\]/, "$1");
}

/** Its 64 bit numbers are strings, and its times as Postgres prints them in rows. */
async function readFeathers(response: Response): Promise<Result> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const { total, data } = JSON.parse(text) as { total: number; data: Record<string, unknown>[] };
  return { total, records: data.map(readRow) };
}

function readRow(row: Record<string, unknown>): object {
  const entries = Object.entries(row).map(([name, value]) => {
    if (name === "id" || name === "tenant_id") return [name, Number(value)];
    if (name === "created_at") {
      return [name, String(value).replace(" ", "T").replace(/\+00$/, "+00:00")];
    }
    return [name, value];
  });
  return Object.fromEntries(entries);
}
