import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type AskTogether,
  type GatheringOptions,
  openGathering,
  openGatherings,
} from "../../../src/operations/batch.ts";

/** A gathering of numbers, at most four of them, and what became of it. */
function open(
  askTogether: AskTogether<number, string> = answerEach,
  options: Partial<GatheringOptions> = {},
) {
  const alone: number[] = [];
  const together: (readonly number[])[] = [];
  const clock = { ms: 0 };
  const ask = openGathering<number, string>(
    (items, errand) => {
      together.push(items);
      return askTogether(items, errand);
    },
    { most: 4, now: () => clock.ms, ...options },
  );
  const asks = (items: readonly number[]) =>
    Promise.all(items.map((item) =>
      ask({
        item,
        alone: async () => {
          alone.push(item);
          await pause(1);
          return `alone ${item}`;
        },
      })
    ));
  return { asks, alone, together, clock };
}

function answerEach(items: readonly number[]): Promise<string>[] {
  return items.map((item) => answer(item));
}

async function answer(item: number): Promise<string> {
  await pause(1);
  return `together ${item}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe("openGathering", () => {
  it("asks alone, at once, for who is the only one", async () => {
    const { asks, alone, together } = open();
    const answer = asks([1]);
    assertEquals(alone, [1]);
    assertEquals(await answer, ["alone 1"]);
    assertEquals(await asks([2]), ["alone 2"]);
    assertEquals(together, []);
  });

  it("asks together for those who come in one turn while another is answered", async () => {
    const { asks, alone, together } = open();
    assertEquals(await asks([1, 2, 3, 4]), ["alone 1", "together 2", "together 3", "together 4"]);
    assertEquals([alone, together], [[1], [[2, 3, 4]]]);
  });

  it("keeps nobody beyond the turn, whatever is on its way", async () => {
    const never = new Promise<never>(() => {});
    const { asks, together } = open((items) =>
      items[0] === 2 ? items.map(() => never) : answerEach(items)
    );
    void asks([1, 2, 3]);
    await pause(1);
    assertEquals(await asks([4, 5]), ["together 4", "together 5"]);
    assertEquals(together, [[2, 3], [4, 5]]);
  });

  it("asks for so many at a time, and alone for one that is left", async () => {
    const { asks, alone, together } = open();
    const answers = await asks([1, 2, 3, 4, 5, 6]);
    assertEquals(answers[5], "alone 6");
    assertEquals([alone, together], [[1, 6], [[2, 3, 4, 5]]]);
  });

  it("asks alone for what has no answer together, and for a while for all", async () => {
    const { asks, alone, together, clock } = open((items) =>
      items.map((item) => item === 3 ? Promise.resolve(undefined) : answer(item))
    );
    assertEquals(await asks([1, 2, 3, 4]), ["alone 1", "together 2", "alone 3", "together 4"]);
    clock.ms = 9_999;
    await asks([5, 6, 7]);
    assertEquals([alone, together.length], [[1, 3, 5, 6, 7], 1]);
    clock.ms = 10_000;
    await asks([8, 9, 10]);
    assertEquals(together[1], [9, 10]);
  });

  it("tells each as soon as its own answer is there", async () => {
    const never = new Promise<never>(() => {});
    const { asks } = open((items) => items.map((item) => item === 3 ? never : answer(item)));
    void asks([1]);
    void asks([3]);
    assertEquals(await asks([2]), ["together 2"]);
  });

  it("tells who asked together that it is late, and asks alone for what then comes undone", async () => {
    let signal: AbortSignal | undefined;
    const { asks, alone } = open((items, errand) => {
      errand.sent();
      signal = errand.client.signal;
      const aborted = new Promise<undefined>((resolve) =>
        signal!.addEventListener("abort", () => resolve(undefined))
      );
      return items.map((item) => item === 2 ? aborted.then(() => answer(item)) : aborted);
    });
    assertEquals(await asks([1, 2, 3]), ["alone 1", "together 2", "alone 3"]);
    assertEquals(alone, [1, 3]);
    assert(signal!.aborted);
  });

  it("calls nothing late that has not gone out", async () => {
    const { asks, alone } = open((items) =>
      items.map(async (item) => {
        await pause(400);
        return await answer(item);
      })
    );
    assertEquals(await asks([1, 2, 3]), ["alone 1", "together 2", "together 3"]);
    assertEquals(alone, [1]);
  });

  it("asks alone for all for a while after answers that took too long", async () => {
    const { asks, together, clock } = open((items, errand) => {
      errand.sent();
      clock.ms += 60;
      return answerEach(items);
    }, { slowMs: 100 });
    await asks([1, 2, 3]);
    await asks([4, 5, 6]);
    assertEquals(together, [[2, 3], [5, 6]]);
    const { asks: asksSlow, together: slow, clock: later } = open((items, errand) => {
      errand.sent();
      later.ms += 101;
      return answerEach(items);
    }, { slowMs: 100 });
    await asksSlow([1, 2, 3]);
    await asksSlow([4, 5, 6]);
    assertEquals(slow, [[2, 3]]);
    later.ms += 10_000;
    await asksSlow([7, 8, 9]);
    assertEquals(slow, [[2, 3], [8, 9]]);
  });

  it("gives a rejection to each who asked", async () => {
    const { asks } = open((items) => items.map(() => Promise.reject(new Error("away"))));
    void asks([1]);
    for (const asked of [asks([2]), asks([3])]) await assertRejects(() => asked, Error, "away");
  });
});

describe("openGatherings", () => {
  it("gathers each kind by itself, and forgets the oldest of more than 256", () => {
    const opened: string[] = [];
    const gather = openGatherings<number, string>((kind) => {
      opened.push(kind);
      return ({ alone }) => alone();
    });
    assertEquals(gather("a"), gather("a"));
    for (let kind = 0; kind < 256; kind++) gather(String(kind));
    gather("255");
    gather("a");
    assertEquals(opened.length, 258);
    assertEquals(opened.at(-1), "a");
  });
});
