import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type BatchOptions,
  openBatcher,
  openBatchers,
  type RunBatch,
} from "../../../src/records/batch.ts";

/** A batcher of numbers, at most four at a time, and how each was run. */
function open(
  runBatch: RunBatch<number, string> = respondEach,
  options: Partial<BatchOptions> = {},
) {
  const alone: number[] = [];
  const batches: (readonly number[])[] = [];
  const clock = { ms: 0 };
  const run = openBatcher<number, string>(
    (items, batch) => {
      batches.push(items);
      return runBatch(items, batch);
    },
    { maxItems: 4, now: () => clock.ms, ...options },
  );
  const runAll = (items: readonly number[], tenantOf: (item: number) => string = () => "1") =>
    Promise.all(items.map((item) =>
      run({
        item,
        tenant: tenantOf(item),
        runAlone: async () => {
          alone.push(item);
          await pause(1);
          return `alone ${item}`;
        },
      })
    ));
  return { runAll, alone, batches, clock };
}

function respondEach(items: readonly number[]): Promise<string>[] {
  return items.map((item) => respond(item));
}

async function respond(item: number): Promise<string> {
  await pause(1);
  return `batched ${item}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe("openBatcher", () => {
  it("runs an item alone, at once, while no other one is running", async () => {
    const { runAll, alone, batches } = open();
    const response = runAll([1]);
    assertEquals(alone, [1]);
    assertEquals(await response, ["alone 1"]);
    assertEquals(await runAll([2]), ["alone 2"]);
    assertEquals(batches, []);
  });

  it("batches the items of one tick while another one is running", async () => {
    const { runAll, alone, batches } = open();
    assertEquals(await runAll([1, 2, 3, 4]), ["alone 1", "batched 2", "batched 3", "batched 4"]);
    assertEquals([alone, batches], [[1], [[2, 3, 4]]]);
  });

  it("holds no item beyond the tick, whatever is running", async () => {
    const never = new Promise<never>(() => {});
    const { runAll, batches } = open((items) =>
      items[0] === 2 ? items.map(() => never) : respondEach(items)
    );
    void runAll([1, 2, 3]);
    await pause(1);
    assertEquals(await runAll([4, 5]), ["batched 4", "batched 5"]);
    assertEquals(batches, [[2, 3], [4, 5]]);
  });

  it("bounds a batch, and runs alone the one item that is left", async () => {
    const { runAll, alone, batches } = open();
    const responses = await runAll([1, 2, 3, 4, 5, 6]);
    assertEquals(responses[5], "alone 6");
    assertEquals([alone, batches], [[1, 6], [[2, 3, 4, 5]]]);
  });

  it("runs alone what had no result in a batch, and all of its tenant for a while", async () => {
    const { runAll, alone, batches, clock } = open((items) =>
      items.map((item) => item === 3 ? Promise.resolve(undefined) : respond(item))
    );
    assertEquals(await runAll([1, 2, 3, 4]), ["alone 1", "batched 2", "alone 3", "batched 4"]);
    clock.ms = 9_999;
    await runAll([5, 6, 7]);
    assertEquals([alone, batches.length], [[1, 3, 5, 6, 7], 1]);
    clock.ms = 10_000;
    await runAll([8, 9, 10]);
    assertEquals(batches[1], [9, 10]);
  });

  it("goes on with the batches of other tenants", async () => {
    const { runAll, alone, batches } = open((items) =>
      items.map((item) => item === 3 ? Promise.resolve(undefined) : respond(item))
    );
    const parity = (item: number) => String(item % 2);
    await runAll([1, 2, 3, 4], parity);
    assertEquals(await runAll([5, 6, 7, 8], parity), [
      ...["alone 5", "batched 6", "alone 7", "batched 8"],
    ]);
    assertEquals([alone, batches], [[1, 3, 5, 7], [[2, 3, 4], [6, 8]]]);
  });

  it("batches a tenant apart from others after its pause, for as long again", async () => {
    const { runAll, batches, clock } = open((items) =>
      items.map((item) => item === 3 ? Promise.resolve(undefined) : respond(item))
    );
    const parity = (item: number) => String(item % 2);
    await runAll([1, 2, 3, 4], parity);
    clock.ms = 10_000;
    await runAll([10, 11, 12, 13, 14, 15], parity);
    clock.ms = 19_999;
    await runAll([20, 21, 22, 23, 24, 25], parity);
    clock.ms = 20_000;
    await runAll([30, 31, 32, 33, 34], parity);
    assertEquals(batches, [
      [2, 3, 4],
      ...[[12, 14], [11, 13, 15]],
      ...[[22, 24], [21, 23, 25]],
      [31, 32, 33, 34],
    ]);
  });

  it("puts the first item of each tenant before the second of any", async () => {
    const { runAll, batches } = open();
    const tens = (item: number) => String(Math.floor(item / 10));
    const items = [10, 11, 12, 13, 14, 20, 21, 30];
    const batched = items.slice(1).map((item) => `batched ${item}`);
    assertEquals(await runAll(items, tens), ["alone 10", ...batched]);
    assertEquals(batches, [[11, 20, 30, 12], [21, 13, 14]]);
  });

  it("has a tenant wait twice as long each time that it goes wrong again, and forgets it", async () => {
    const { runAll, batches, clock } = open((items) => items.map(() => Promise.resolve(undefined)));
    const tryAt = async (ms: number) => {
      clock.ms = ms;
      const before = batches.length;
      await runAll([1, 2, 3]);
      return batches.length > before;
    };
    const tries = [0, 9_999, 10_000, 29_999, 30_000, 69_999, 70_000];
    const batched: boolean[] = [];
    for (const ms of tries) batched.push(await tryAt(ms));
    assertEquals(batched, [true, false, true, false, true, false, true]);
    // 80 s of pause and as long without trouble.
    assertEquals([await tryAt(300_000), await tryAt(309_999), await tryAt(310_000)], [
      ...[true, false, true],
    ]);
  });

  it("resolves each item as soon as its own result is there", async () => {
    const never = new Promise<never>(() => {});
    const { runAll } = open((items) => items.map((item) => item === 3 ? never : respond(item)));
    void runAll([1]);
    void runAll([3]);
    assertEquals(await runAll([2]), ["batched 2"]);
  });

  it("aborts a batch that is late, and runs alone what then has no result", async () => {
    let signal: AbortSignal | undefined;
    const { runAll, alone } = open((items, batch) => {
      batch.sent();
      signal = batch.client.signal;
      const aborted = new Promise<undefined>((resolve) =>
        signal!.addEventListener("abort", () => resolve(undefined))
      );
      return items.map((item) => item === 2 ? aborted.then(() => respond(item)) : aborted);
    }, { lateMs: 100 });
    assertEquals(await runAll([1, 2, 3]), ["alone 1", "batched 2", "alone 3"]);
    assertEquals(alone, [1, 3]);
    assert(signal!.aborted);
  });

  it("counts the time of a batch from when it was sent", async () => {
    const { runAll, alone } = open((items) =>
      items.map(async (item) => {
        await pause(200);
        return await respond(item);
      }), { lateMs: 100 });
    assertEquals(await runAll([1, 2, 3]), ["alone 1", "batched 2", "batched 3"]);
    assertEquals(alone, [1]);
  });

  it("runs a tenant alone for a while after two batches that were too slow", async () => {
    const { runAll, batches, clock } = open((items, batch) => {
      batch.sent();
      clock.ms += items.includes(3) ? 60 : 101;
      return respondEach(items);
    }, { slowMs: 100 });
    await runAll([1, 2, 4]);
    // One that is fast: whatever held up the one before, it was not its items.
    await runAll([1, 2, 3]);
    await runAll([5, 6, 7]);
    await runAll([8, 9, 10]);
    assertEquals(batches, [[2, 4], [2, 3], [6, 7], [9, 10]]);
    await runAll([11, 12, 13]);
    assertEquals(batches.length, 4);
    clock.ms += 10_000;
    await runAll([14, 15, 16]);
    assertEquals(batches[4], [15, 16]);
  });

  it("counts slow batches that were on their way at the same time once", async () => {
    const { runAll, batches, clock } = open((items, batch) => {
      batch.sent();
      return items.map(async (item) => {
        const response = await respond(item);
        clock.ms = 101;
        return response;
      });
    }, { slowMs: 100 });
    await runAll([1, 2, 3, 4, 5, 6, 7]);
    assertEquals(batches, [[2, 3, 4, 5], [6, 7]]);
    await runAll([8, 9, 10]);
    assertEquals(batches[2], [9, 10]);
  });

  it("rejects each item of a batch that fails", async () => {
    const { runAll } = open((items) => items.map(() => Promise.reject(new Error("unavailable"))));
    void runAll([1]);
    for (const asked of [runAll([2]), runAll([3])]) {
      await assertRejects(() => asked, Error, "unavailable");
    }
  });
});

describe("openBatchers", () => {
  it("batches each key by itself, and drops the oldest of more than 256", () => {
    const opened: string[] = [];
    const gather = openBatchers<number, string>((kind) => {
      opened.push(kind);
      return ({ runAlone }) => runAlone({ paused: false });
    });
    assertEquals(gather("a"), gather("a"));
    for (let kind = 0; kind < 256; kind++) gather(String(kind));
    gather("255");
    gather("a");
    assertEquals(opened.length, 258);
    assertEquals(opened.at(-1), "a");
  });
});
