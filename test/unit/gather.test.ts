import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type AskTogether, openGathering } from "../../src/gather.ts";

/** A gathering of numbers, at most four of them, and what became of it. */
function open(askTogether: AskTogether<number, string> = answerAll) {
  const alone: number[] = [];
  const together: (readonly number[])[] = [];
  const clock = { ms: 0 };
  const ask = openGathering<number, string>(
    (items, errand) => {
      together.push(items);
      return askTogether(items, errand);
    },
    4,
    () => clock.ms,
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

async function answerAll(items: readonly number[]): Promise<string[]> {
  await pause(1);
  return items.map((item) => `together ${item}`);
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
    const { asks, together } = open(([first]) => first === 2 ? never : answerAll([first!, 5]));
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
      Promise.resolve(items.map((item) => item === 3 ? undefined : `together ${item}`))
    );
    assertEquals(await asks([1, 2, 3, 4]), ["alone 1", "together 2", "alone 3", "together 4"]);
    clock.ms = 9_999;
    await asks([5, 6, 7]);
    assertEquals([alone, together.length], [[1, 3, 5, 6, 7], 1]);
    clock.ms = 10_000;
    await asks([8, 9, 10]);
    assertEquals(together[1], [9, 10]);
  });

  it("asks alone for all when nothing came", async () => {
    const { asks, alone } = open(() => Promise.resolve([]));
    assertEquals(await asks([1, 2, 3]), ["alone 1", "alone 2", "alone 3"]);
    assertEquals(alone, [1, 2, 3]);
  });

  it("asks alone for those whose answer is late, and cancels it", async () => {
    let signal: AbortSignal | undefined;
    const { asks, alone } = open((_items, errand) => {
      errand.sent();
      signal = errand.client.signal;
      return new Promise(() => {});
    });
    assertEquals(await asks([1, 2, 3]), ["alone 1", "alone 2", "alone 3"]);
    assertEquals(alone, [1, 2, 3]);
    assert(signal!.aborted);
  });

  it("calls nothing late that has not gone out", async () => {
    const { asks, alone } = open(async (items) => {
      await pause(400);
      return await answerAll(items);
    });
    assertEquals(await asks([1, 2, 3]), ["alone 1", "together 2", "together 3"]);
    assertEquals(alone, [1]);
  });

  it("gives a rejection to each who asked", async () => {
    const { asks } = open(() => Promise.reject(new Error("away")));
    void asks([1]);
    for (const asked of [asks([2]), asks([3])]) await assertRejects(() => asked, Error, "away");
  });
});
