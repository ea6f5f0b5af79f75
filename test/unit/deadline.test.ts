import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startDeadline } from "../../src/deadline.ts";

describe("startDeadline", () => {
  it("calls when something is slow, then when it is late, short or long", async () => {
    for (const ms of [20, 250]) {
      const told: string[] = [];
      const started = performance.now();
      const late = await new Promise<number>((resolve) => {
        startDeadline({
          ms,
          slow: () => told.push("slow"),
          late: () => resolve(performance.now() - started),
        });
      });
      assertEquals(told, ["slow"]);
      // Timers may be early by the part of a millisecond.
      assert(late >= ms - 1, `${late} ms`);
    }
  });

  it("calls nothing once it is ended, in its moment or after it", async () => {
    for (const ms of [0, 20, 120, 220]) {
      let told = 0;
      const end = startDeadline({ ms: 250, late: () => told += 100, slow: () => told++ });
      await new Promise((resolve) => setTimeout(resolve, ms));
      const before = told;
      assert(before < 100);
      end();
      end();
      await new Promise((resolve) => setTimeout(resolve, 400));
      assertEquals(told, before);
    }
  });

  it("calls nothing of one that is ended by another in the same turn", async () => {
    let told = 0;
    let end = () => {};
    startDeadline({ ms: 250, late: () => {}, slow: () => end() });
    end = startDeadline({ ms: 250, late: () => told++, slow: () => told++ });
    await new Promise((resolve) => setTimeout(resolve, 450));
    assertEquals(told, 0);
  });

  it("looks after many that begin and end one after another", async () => {
    let slow = 0;
    const ends = Array.from(
      { length: 1000 },
      () => startDeadline({ ms: 60_000, late: () => {}, slow: () => slow++ }),
    );
    for (const end of ends.slice(0, 900)) end();
    await new Promise((resolve) => setTimeout(resolve, 400));
    assertEquals(slow, 100);
    for (const end of ends) end();
  });
});
