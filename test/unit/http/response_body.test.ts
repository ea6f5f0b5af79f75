import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { zip } from "../../../src/http/response_body.ts";
import { type ByteBudget, openByteBudget } from "../../../src/http/byte_budget.ts";
import { encodeLong, isLong, streamBytes } from "../../../src/http/response_body.ts";

const MAX = 2_000_000;

function open(timeoutMs = 60_000) {
  const unsent = openByteBudget(MAX);
  const observed: string[] = [];
  const sending = { unsent, timeoutMs, late: () => observed.push("late") };
  return { unsent, observed, recipient: { sending, tenant: "1" } };
}

/** Reports whether a tenant has all the room that one may have. */
function isFree(unsent: ByteBudget): boolean {
  const leave = unsent.take(MAX / 2, "1");
  leave?.();
  return leave !== undefined;
}

const BYTES = new TextEncoder().encode("x€😀".repeat(50_000));

describe("a long response", () => {
  it("arrives whole, also compressed [RE29] [L14]", async () => {
    assert(isLong(BYTES.length) && !isLong(100_000));
    for (const length of [BYTES.length, 65_536, 2 * 65_536, 3 * 65_536 + 1, 1]) {
      const { unsent, recipient } = open();
      const bytes = BYTES.slice(0, length);
      const sent = await new Response(streamBytes(bytes, recipient)).bytes();
      assert(sent.length === length && sent.every((byte, at) => byte === bytes[at]));
      const unzipped = zip(streamBytes(bytes, recipient))
        .pipeThrough(new DecompressionStream("gzip") as never);
      assertEquals((await new Response(unzipped).bytes()).length, length);
      assert(isFree(unsent));
    }
  });

  it("is encoded in slices as it would be whole, and others are served meanwhile [RE33]", async () => {
    for (
      const text of [
        "",
        "😀".repeat(100_000),
        `x${"😀".repeat(100_000)}`,
        "€".repeat(65_536),
        "\ud800",
      ]
    ) {
      const slices = await encodeLong(text);
      assert(slices.every(({ length }) => length <= 65_536));
      assertEquals(await new Blob([...slices]).bytes(), new TextEncoder().encode(text));
    }
    let served = 0;
    const serving = setInterval(() => served++);
    await encodeLong("x€😀".repeat(5_000_000));
    clearInterval(serving);
    assert(served > 1);
  });

  it("frees each slice when the next one is asked for [RE33]", async () => {
    const { recipient } = open();
    const freed: number[] = [];
    const free = ({ buffer }: Uint8Array<ArrayBuffer>) => {
      freed.push(buffer.byteLength);
      buffer.transfer(0);
      return false;
    };
    const reader = streamBytes(BYTES.slice(), { ...recipient, free }).getReader();
    let at = 0;
    for (let number = 0;; number++) {
      const { value } = await reader.read();
      if (value === undefined) break;
      assertEquals(freed.length, number);
      assert(value.every((byte, place) => byte === BYTES[at + place]));
      at += value.length;
    }
    assertEquals([at, new Set(freed)], [BYTES.length, new Set([65_536])]);
  });

  it("holds its bytes until it is sent, or its client has gone [RE29] [L14]", async () => {
    const { unsent, recipient } = open();
    const reader = streamBytes(BYTES, recipient).getReader();
    await reader.read();
    assert(!isFree(unsent));
    await reader.cancel();
    assert(isFree(unsent));
  });

  it("is 503 with Retry-After where there are too few bytes [RE29] [L14]", () => {
    const { recipient } = open();
    const long = new Uint8Array(MAX / 2);
    streamBytes(long, recipient);
    const error = assertThrows(() => streamBytes(long, recipient), ApiError) as ApiError;
    assertEquals([error.status, error.headers], [503, { "Retry-After": "1" }]);
    streamBytes(long, { ...recipient, tenant: "2" });
  });

  it("takes no bytes where its request holds some [RE29] [L14]", async () => {
    const { recipient } = open();
    let held = 0;
    const hold = () => {
      held++;
      return () => held--;
    };
    const streams = Array.from({ length: 30 }, () => streamBytes(BYTES, { ...recipient, hold }));
    assertEquals(held, 30);
    await Promise.all(streams.map((stream) => stream.cancel()));
    assertEquals(held, 0);
  });

  for (const cut of [undefined, () => {}]) {
    it(`is cut off when nothing of it is read${cut ? ", by its connection" : ""} [RE29] [L14]`, async () => {
      const { unsent, observed, recipient } = open(50);
      let cuts = 0;
      const cutting = cut && { cut: () => cuts++ };
      const reader = streamBytes(BYTES, { ...recipient, ...cutting }).getReader();
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, 200));
      assertEquals([observed, cuts], [["late"], cut ? 1 : 0]);
      assert(isFree(unsent));
      if (cut === undefined) await assertRejects(() => reader.read());
    });
  }

  it("is not cut off while it is read slowly [RE29] [L14]", async () => {
    const { observed, recipient } = open(300);
    const reader = streamBytes(BYTES, recipient).getReader();
    let size = 0;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 120));
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
    }
    assertEquals([size, observed], [BYTES.length, []]);
  });
});
