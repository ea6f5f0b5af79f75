// The recipes' programs run as n8n runs them, with the requests of the page: what lies behind the place is given
// once.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";

const markdown = await readDocument("docs/recipes.md");
const [keepPlace = ""] = readTexts(markdown, "js");
const n8n = markdown.slice(markdown.indexOf("## n8n"), markdown.indexOf("## Zapier"));
const [request = ""] = readTexts(n8n, "http");
/** What the second Code node is told to do. */
const [, advance = ""] = /`(place\.time = [^`]+)`/.exec(n8n) ?? [];

interface Order {
  readonly id: number;
  readonly order_no: string;
  readonly modified_at: string;
}

describe("the recipe for n8n", () => {
  let service: DocumentedService;
  before(async () => {
    service = await startDemonstration();
  });
  after(() => service.close());

  it("gives each changed order once, from run to run", async () => {
    const kept = {};
    assertEquals((await run(kept)).map(({ id }) => id), [1499, 1500]);
    assertEquals(await run(kept), []);
    const patch = { filters: { id: 1 }, fields: { note: "changed" } };
    const path = "/integration/tables/orders/records/single";
    assertEquals((await send(path, "PATCH", JSON.stringify(patch))).updated, 1);
    assertEquals((await run(kept)).map(({ id }) => id), [1]);
    assertEquals(await run(kept), []);
  });

  /** One run of the workflow, with the static data that n8n keeps. */
  async function run(kept: unknown): Promise<readonly Order[]> {
    const $getWorkflowStaticData = (kind: string) => {
      assertEquals(kind, "global");
      return kept;
    };
    const first = new Function("$getWorkflowStaticData", keepPlace);
    const [{ json }] = first($getWorkflowStaticData);
    const [head = "", body = ""] = request.split("\n\n");
    const filled = body.replaceAll('"2026-04-30T15:00:00Z"', JSON.stringify(json.time))
      .replace('"op": "gt", "value": 0', `"op": "gt", "value": ${json.id}`);
    const [, path = ""] = head.split("\n", 1)[0]!.split(" ");
    const { records } = await send(path, "POST", filled);
    const last = records.at(-1);
    assert(advance !== "");
    if (last !== undefined) new Function("place", "last", advance)(kept, last);
    return records;
  }

  async function send(path: string, method: string, body: string) {
    const headers = { authorization: "Bearer TOKEN", "content-type": "application/json" };
    const answer = await service.app(
      new Request(`http://127.0.0.1${path}`, { method, headers, body }),
    );
    assertEquals(answer.status, 200);
    return await answer.json();
  }
});
