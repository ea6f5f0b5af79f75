// Runs the programs of the recipes as the tools run them, with the requests of the page: each change is returned
// once.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";

const markdown = await readDocument("docs/recipes.md");
const n8n = markdown.slice(markdown.indexOf("## n8n: poll"), markdown.indexOf("## Zapier: update"));
/** The Code nodes before and after the request. */
const [readPlace = "", keepPlace = ""] = readTexts(n8n, "js");
const [request = ""] = readTexts(n8n, "http");

const ORDERS = "/integration/tables/orders/query";

interface Row {
  readonly id: number;
  readonly name: string;
  readonly modified_at: string;
}

describe("the recipe for n8n", () => {
  let service: DocumentedService;
  before(async () => {
    service = await startDemonstration();
  });
  after(() => service.close());

  it("returns each changed order once, over several runs", async () => {
    const kept = {};
    assertEquals((await run(kept)).map(({ id }) => id), [1499, 1500]);
    assertEquals(await run(kept), []);
    const patch = { filters: { id: 1 }, fields: { note: "changed" } };
    const path = "/integration/tables/orders/records/single";
    assertEquals((await send(service, path, patch, "PATCH")).updated, 1);
    assertEquals((await run(kept)).map(({ id }) => id), [1]);
    assertEquals(await run(kept), []);
  });

  it("returns several pages in as many runs, each order once", async () => {
    const time = "2026-04-01T00:00:00Z";
    const kept = { time, id: 0 };
    const ids: number[] = [];
    let orders: readonly Row[];
    do {
      orders = await run(kept);
      ids.push(...orders.map(({ id }) => id));
    } while (orders.length === 200);
    const filters = { and: [{ field: "modified_at", op: "gt", value: time }] };
    const { total } = await send(service, ORDERS, { filters });
    assert(total > 200);
    assertEquals([ids.length, new Set(ids).size], [total, total]);
  });

  /** Runs the workflow once, with the static data that n8n stores. */
  async function run(kept: unknown): Promise<readonly Row[]> {
    const $getWorkflowStaticData = (kind: string) => {
      assertEquals(kind, "global");
      return kept;
    };
    const [{ json }] = new Function("$getWorkflowStaticData", readPlace)($getWorkflowStaticData);
    const [path, body] = readRequest(request);
    const filled = body.replaceAll('"2026-04-30T15:00:00Z"', JSON.stringify(json.time))
      .replace('"op": "gt", "value": 0', `"op": "gt", "value": ${json.id}`);
    const response = await send(service, path, JSON.parse(filled));
    const $ = (node: string) => {
      assertEquals(node, "HTTP Request");
      return { first: () => ({ json: response }) };
    };
    const hand = new Function("$getWorkflowStaticData", "$", keepPlace);
    const [handed] = hand($getWorkflowStaticData, $);
    return handed.json.records;
  }
});

describe("the recipe for any program", () => {
  const section = markdown.slice(markdown.indexOf("## Any program"), markdown.indexOf("## Make"));
  const [program = ""] = readTexts(section, "js");
  let service: DocumentedService;
  before(async () => {
    service = await startDemonstration();
  });
  after(() => service.close());

  it("reads each order once", async () => {
    const seen: number[] = [];
    const console = { log: ({ id }: Row) => seen.push(id) };
    const process = { env: { ROWGATE_TOKEN: "TOKEN" } };
    const fetch = (address: string, init: RequestInit) => service.app(new Request(address, init));
    const run = new Function(
      "process",
      "console",
      "fetch",
      `return (async () => {${program}})()`,
    );
    await run(process, console, fetch);
    const filters = { and: [{ field: "status", op: "neq", value: "draft" }] };
    const { total } = await send(service, ORDERS, { filters });
    assert(total > 1000);
    assertEquals([seen.length, new Set(seen).size], [total, total]);
  });
});

describe("the recipe for Airbyte", () => {
  const section = markdown.slice(
    markdown.indexOf("## Airbyte: sync a table"),
    markdown.indexOf("## Make"),
  );
  const [whole = "", , changed = ""] = readTexts(section, "http");
  const [path, ofWhole] = readRequest(whole);
  const [, ofChanged] = readRequest(changed);
  let service: DocumentedService;
  before(async () => {
    service = await startDemonstration();
  });
  after(() => service.close());

  it("keeps a copy of a table that changes, over the first and later syncs", async () => {
    const copy = new Map<number, Row>();
    let last = 0;
    for (let size = -1; size !== 0;) {
      const body = ofWhole.replace('"value": 0', `"value": "${last}"`)
        .replace('"per_page": 2', '"per_page": 100');
      const { records } = await send(service, path, JSON.parse(body));
      for (const row of records) copy.set(row.id, row);
      [last, size] = [records.at(-1)?.id ?? last, records.length];
    }
    assertEquals([...copy.values()], await readAll());

    const bulk = { filters: { city: "Oslo" }, fields: { newsletter: true } };
    const single = { filters: { id: 7 }, fields: { name: "Renamed" } };
    const update = "/integration/tables/customers/records";
    await send(service, `${update}/bulk`, bulk, "PATCH");
    await send(service, `${update}/single`, single, "PATCH");
    const newest = [...copy.values()].map((row) => row.modified_at).sort().at(-1)!;
    const place = { time: newest, id: 0 };
    for (let rows: readonly Row[] = [], first = true; first || rows.length === 2; first = false) {
      const body = ofChanged.replaceAll('"2026-04-30T00:00:00Z"', JSON.stringify(place.time))
        .replace('"value": 0', `"value": ${place.id}`).replace('"per_page": 200', '"per_page": 2');
      ({ records: rows } = await send(service, path, JSON.parse(body)));
      for (const row of rows) copy.set(row.id, row);
      const last = rows.at(-1);
      if (last !== undefined) Object.assign(place, { time: last.modified_at, id: last.id });
    }
    assertEquals(copy.get(7)?.name, "Renamed");
    assertEquals([...copy.values()], await readAll());
  });

  async function readAll(): Promise<readonly Row[]> {
    const body = { select: ["id", "name", "modified_at"], sort: [{ field: "id" }], per_page: 200 };
    const pages = await Promise.all(
      [1, 2, 3].map((page) => send(service, path, { ...body, page })),
    );
    return pages.flatMap(({ records }) => records);
  }
});

function readRequest(block: string): readonly [path: string, body: string] {
  const [head = "", body = ""] = block.split("\n\n");
  return [head.split("\n", 1)[0]!.split(" ")[1]!, body];
}

async function send(
  service: DocumentedService,
  path: string,
  body: unknown,
  method: "POST" | "PATCH" = "POST",
) {
  const headers = { authorization: "Bearer TOKEN", "content-type": "application/json" };
  const url = `http://127.0.0.1${path}`;
  const response = await service.app(
    new Request(url, { method, headers, body: JSON.stringify(body) }),
  );
  assertEquals(response.status, 200);
  return await response.json();
}
