import { assertEquals, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { freeChunks } from "../../../src/http/export_stream.ts";

describe("the chunks of an export", () => {
  const chunks = [1, 2, 3].map((byte) => Uint8Array.of(byte));

  function openSource() {
    const left = [...chunks];
    return { next: () => Promise.resolve(left.shift()), close: () => {} };
  }

  it("are each freed when the next one is asked for, and not before [EX25]", async () => {
    const freed: Uint8Array[] = [];
    const source = freeChunks(openSource(), (bytes) => {
      freed.push(bytes);
      return false;
    });
    for (const [place, chunk] of chunks.entries()) {
      assertStrictEquals(await source.next(), chunk);
      assertEquals(freed, chunks.slice(0, place));
    }
    assertEquals(await source.next(), undefined);
    assertEquals(freed, chunks);
  });

  it("are given back to be overwritten where the runtime says that they were sent [EX25]", async () => {
    const left = [...chunks];
    const spare: (Uint8Array | undefined)[] = [];
    const source = freeChunks({
      next(bytes) {
        spare.push(bytes);
        return Promise.resolve(left.shift());
      },
      close: () => {},
    }, (bytes) => bytes !== chunks[1]);
    for (let asked = 0; asked < 5; asked++) await source.next();
    assertEquals(spare, [undefined, undefined, chunks[0], undefined, chunks[2]]);
  });

  it("are left to the collector where the runtime frees nothing [EX25]", () => {
    const source = openSource();
    assertStrictEquals(freeChunks(source, undefined), source);
  });
});
