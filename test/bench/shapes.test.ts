import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startFlow } from "../../scripts/bench/paced_client.ts";
import { makeMixedShapes, makeShapes } from "../../scripts/bench/shapes.ts";
import { parseQueryRequest } from "../../src/request/query_request.ts";
import { parseUpdateRequest } from "../../src/request/update_request.ts";
import type { Task } from "../../scripts/bench/work.ts";

/** A task without its values: two of the same shape print the same. */
function printShape({ work, body }: Task): string {
  return work + JSON.stringify(body, (_key, value) => typeof value === "number" ? 0 : value)
    .replaceAll(/"text \d+"/g, '"text"');
}

describe("the requests of many shapes", () => {
  for (const make of [makeShapes, makeMixedShapes]) {
    it(`are all of different shape: ${make.name}`, () => {
      assertEquals(new Set(make(20_000).map(printShape)).size, 20_000);
    });
  }

  it("are all accepted", () => {
    for (const { kind, body } of makeMixedShapes(3000)) {
      if (kind === "query") parseQueryRequest(body);
      else parseUpdateRequest(body);
    }
  });

  it("are look-ups, lists and updates in turn", () => {
    const works = makeMixedShapes(6).map(({ work }) => work);
    assertEquals(works, ["Q1", "Q3", "U2", "Q1", "Q3", "U2"]);
  });

  it("come at the rate that is asked for, each once, whatever the answers", async () => {
    const seen: string[] = [];
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => {
        seen.push(await request.text());
        return new Response("no", { status: 400 });
      },
    );
    const address = `http://127.0.0.1:${server.addr.port}`;
    const ask = (number: number) => ({ method: "POST", path: "/", headers: {}, body: `${number}` });
    const flow = startFlow({ address }, ask, { rate: 100, from: 7 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const sent = await flow.stop();
    await server.shutdown();
    assertEquals(sent >= 40 && sent <= 60, true, `${sent}`);
    assertEquals(seen.map(Number).toSorted((a, b) => a - b), seen.map((_, index) => 7 + index));
    assertEquals(seen.length, sent);
  });
});
