import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Lease, LeaseQuestion } from "../../../src/http/rate_leases.ts";
import { SharedBuckets } from "../../../src/http/shared_buckets.ts";

/** Buckets of 100 in an hour on a database that the test answers for. */
function open(answer: (asked: readonly LeaseQuestion[]) => Promise<readonly Lease[]>, size = 10) {
  const asked: LeaseQuestion[] = [];
  const buckets = new SharedBuckets({
    ...{ capacity: 100, windowSeconds: 3600, size },
    now: () => performance.now(),
    observe: () => {},
    leases: {
      lease: (questions) => {
        asked.push(...questions);
        return answer(questions);
      },
      prune: () => Promise.resolve(0),
    },
  });
  return { draw: (key: string) => buckets.draw(key), close: () => buckets.close(), asked };
}

const grantAll = (questions: readonly LeaseQuestion[]) =>
  Promise.resolve(questions.map(({ id, want }) => ({ id, granted: want, level: 60 })));

describe("SharedBuckets", () => {
  it("asks once for a lease, and spends it without asking [M21]", async () => {
    const { draw, close, asked } = open(grantAll);
    assertEquals((await draw("a")).remaining, 65);
    // Behind half of it the next one is asked for in time.
    assertEquals([draw("a"), draw("a")].map((drawn) => drawn instanceof Promise), [false, false]);
    assertEquals(asked, [{ id: "a", want: 6, back: 0 }]);
    await close();
    assertEquals(asked.at(-1), { id: "a", want: 0, back: 3 });
  });

  it("asks for all that wait together, and for as many as wait [M21]", async () => {
    const { draw, close, asked } = open(grantAll);
    const drawn = await Promise.all(Array.from({ length: 9 }, () => draw("a")));
    assert(drawn.every(({ granted }) => granted));
    assert(asked.length <= 3, JSON.stringify(asked));
    await close();
  });

  it("counts by itself when the database grants no lease [M22]", async () => {
    const { draw, close } = open(() => Promise.reject(new Error("away")));
    const drawn = await draw("a");
    assertEquals([drawn.granted, drawn.remaining], [true, 99]);
    await close();
  });

  it("rejects without asking while nothing is left for anyone [M21]", async () => {
    const { draw, close, asked } = open((questions) =>
      Promise.resolve(questions.map(({ id }) => ({ id, granted: 0, level: 0 })))
    );
    for (let request = 0; request < 20; request++) {
      const { granted, remaining, nextSeconds } = await draw("a");
      assertEquals([granted, remaining, nextSeconds], [false, 0, 36]);
    }
    assertEquals(asked.length, 1);
    await close();
  });

  it("remembers so many keys, and gives back what the oldest had [M23]", async () => {
    const { draw, close, asked } = open(grantAll, 2);
    for (const key of ["a", "b", "c"]) await draw(key);
    await draw("c");
    await new Promise((resolve) => setTimeout(resolve, 1));
    assertEquals(asked.find(({ want }) => want === 0), { id: "a", want: 0, back: 5 });
    await close();
  });
});
