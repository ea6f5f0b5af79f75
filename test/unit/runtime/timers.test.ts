import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startDeadline } from "../../../src/runtime/timers.ts";

/** A client that is looked at once what it waits for is slow. */
function tell(slow: () => void): { readonly signal: AbortSignal } {
  return {
    get signal() {
      slow();
      return new AbortController().signal;
    },
  };
}

describe("startDeadline", () => {
  it("calls when something is slow, then when it is late, short or long", async () => {
    for (const ms of [20, 500]) {
      const told: string[] = [];
      const started = performance.now();
      const late = await new Promise<number>((resolve) => {
        startDeadline({
          ms,
          client: tell(() => told.push("slow")),
          late: () => resolve(performance.now() - started),
        });
      });
      assertEquals(told, ["slow"]);
      // Timers may be early by the part of a millisecond.
      assert(late >= ms - 1, `${late} ms`);
    }
  });

  it("calls nothing once it is ended, in its moment or after it", async () => {
    for (const ms of [0, 20, 240, 440]) {
      let told = 0;
      const end = startDeadline({ ms: 500, late: () => told += 100, client: tell(() => told++) });
      await new Promise((resolve) => setTimeout(resolve, ms));
      const before = told;
      assert(before < 100);
      end();
      end();
      await new Promise((resolve) => setTimeout(resolve, 700));
      assertEquals(told, before);
    }
  });

  it("calls nothing of one that is ended by another in the same turn", async () => {
    let told = 0;
    let end = () => {};
    startDeadline({ ms: 500, late: () => {}, client: tell(() => end()) });
    end = startDeadline({ ms: 500, late: () => told++, client: tell(() => told++) });
    await new Promise((resolve) => setTimeout(resolve, 800));
    assertEquals(told, 0);
  });

  it("tells of a client that has gone before, short or long, and of one that goes", async () => {
    for (const ms of [20, 500]) {
      const leaving = new AbortController();
      const told: string[] = [];
      const late = () => told.push("late");
      const ends = [{ signal: AbortSignal.abort() }, leaving].map((client, index) => {
        const end = startDeadline({
          ms,
          late,
          client,
          // What ends a wait has to be there by then.
          gone: () => (end(), told.push(`gone ${index}`)),
        });
        return end;
      });
      assertEquals(told, []);
      await new Promise((resolve) => setTimeout(resolve, ms === 20 ? 5 : 130));
      leaving.abort();
      await new Promise((resolve) => setTimeout(resolve, 350));
      assertEquals(told, ["gone 0", "gone 1"]);
      for (const end of ends) end();
    }
  });

  it("looks after many that begin and end one after another", async () => {
    let slow = 0;
    const ends = Array.from(
      { length: 1000 },
      () => startDeadline({ ms: 60_000, late: () => {}, client: tell(() => slow++) }),
    );
    for (const end of ends.slice(0, 900)) end();
    await new Promise((resolve) => setTimeout(resolve, 700));
    assertEquals(slow, 100);
    for (const end of ends) end();
  });
});
