import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startDeadline } from "../../../src/server/runtime/timers.ts";

/** A client that is looked at once what it waits for is slow. */
function watchClient(slow: () => void): { readonly signal: AbortSignal } {
  return {
    get signal() {
      slow();
      return new AbortController().signal;
    },
  };
}

/** Waits by turns, which a busy machine delays as it does the timers under test. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < ms / 10; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("startDeadline", () => {
  it("calls when something is slow, then when it is late, short or long", async () => {
    await Promise.all([20, 500].map(async (ms) => {
      const reported: string[] = [];
      const started = performance.now();
      const late = await new Promise<number>((resolve) => {
        startDeadline({
          ms,
          client: watchClient(() => reported.push("slow")),
          late: () => resolve(performance.now() - started),
        });
      });
      assertEquals(reported, ["slow"]);
      // Timers may be early by the part of a millisecond.
      assert(late >= ms - 1, `${late} ms`);
    }));
  });

  it("calls nothing once it is ended, in its moment or after it", async () => {
    await Promise.all([0, 20, 240, 440].map(async (ms) => {
      let reported = 0;
      const startedMs = performance.now();
      const end = startDeadline({
        ms: 500,
        late: () => reported += 100,
        client: watchClient(() => reported++),
      });
      await new Promise((resolve) => setTimeout(resolve, ms));
      const before = reported;
      assert(before < 100 || performance.now() - startedMs >= 500);
      end();
      end();
      await pass(700);
      assertEquals(reported, before);
    }));
  });

  it("calls nothing of one that is ended by another in the same tick", async () => {
    let reported = 0;
    let end = () => {};
    startDeadline({ ms: 500, late: () => {}, client: watchClient(() => end()) });
    end = startDeadline({ ms: 500, late: () => reported++, client: watchClient(() => reported++) });
    await pass(800);
    assertEquals(reported, 0);
  });

  it("reports a client that has disconnected before, short or long, and one that does", async () => {
    await Promise.all([20, 500].map(async (ms) => {
      const leaving = new AbortController();
      const reported: string[] = [];
      const late = () => reported.push("late");
      const ends = [{ signal: AbortSignal.abort() }, leaving].map((client, index) => {
        const end = startDeadline({
          ms,
          late,
          client,
          // What ends a wait has to be there by then.
          gone: () => (end(), reported.push(`gone ${index}`)),
        });
        return end;
      });
      assertEquals(reported, []);
      await new Promise((resolve) => setTimeout(resolve, ms === 20 ? 5 : 130));
      leaving.abort();
      await pass(350);
      assertEquals(reported, ["gone 0", "gone 1"]);
      for (const end of ends) end();
    }));
  });

  it("looks after many that begin and end one after another", async () => {
    let slow = 0;
    const ends = Array.from(
      { length: 1000 },
      () => startDeadline({ ms: 60_000, late: () => {}, client: watchClient(() => slow++) }),
    );
    for (const end of ends.slice(0, 900)) end();
    await pass(700);
    assertEquals(slow, 100);
    for (const end of ends) end();
  });
});
