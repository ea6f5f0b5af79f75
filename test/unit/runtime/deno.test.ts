import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { DENO_ADAPTER } from "../../../src/server/runtime/deno.ts";

describe("Deno's server", () => {
  it("has a chunk of a body in its own memory when it asks for the next one [EX25]", async () => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let begun = 0;
    const server = await DENO_ADAPTER.listen((_request, { free }) => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller) {
          const last = chunks.at(-1);
          if (last !== undefined) free!(last);
          if (begun++ === 100) return controller.close();
          const chunk = new Uint8Array(65_536).fill(begun);
          chunks.push(chunk);
          controller.enqueue(chunk);
        },
      }, { highWaterMark: 0 });
      return Promise.resolve(new Response(body));
    }, { host: "127.0.0.1", port: 0, requestTimeoutMs: 10_000 });
    const response = await fetch(`http://127.0.0.1:${server.port}/`);
    const bytes = await response.bytes();
    await server.stop();
    assertEquals(bytes.length, 100 * 65_536);
    for (let place = 0; place < 100; place++) {
      const part = bytes.subarray(65_536 * place, 65_536 * (place + 1));
      assertEquals(part.every((byte) => byte === place + 1), true, `chunk ${place}`);
    }
    assertEquals(chunks.map(({ buffer }) => buffer.detached), chunks.map(() => true));
  });
});
