import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openPace } from "../../../src/database/postgres/pace.ts";

/** Opens a pace among others, whose ticks and waits come when the test says so. */
function openFake() {
  const due: string[] = [];
  const callbacks: (() => void)[] = [];
  const state = { inFlight: 0, begun: 5, taken: 0, ms: 0 };
  const pace = openPace({ isBusy: () => state.inFlight > 0, begun: () => state.begun }, {
    nextTick(callback) {
      due.push("tick");
      callbacks.push(callback);
    },
    wait(callback, ms) {
      due.push(`${ms} ms`);
      callbacks.push(callback);
    },
    now: () => state.ms,
  });
  return { pace, due, state, run: () => callbacks.shift()?.() };
}

describe("the pace of an export", () => {
  it("goes on in the next tick where there are no others [EX25]", () => {
    const { pace, due, state, run } = openFake();
    assertEquals(pace.bytes(), 131_072);
    pace.next(() => state.taken++);
    assertEquals([state.taken, due], [0, ["tick"]]);
    run();
    assertEquals([state.taken, due], [1, ["tick"]]);
  });

  it("takes half as much while others are in flight, and waits twice at most [EX25] [XA20] [XA21]", () => {
    const { pace, due, state, run } = openFake();
    state.inFlight = 3;
    for (let times = 1; times <= 2; times++) {
      assertEquals(pace.bytes(), 65_536);
      pace.next(() => state.taken++);
      for (let steps = 0; steps < 3; steps++) {
        assertEquals(state.taken, times - 1);
        run();
      }
      assertEquals(state.taken, times);
    }
    assertEquals(due, ["tick", "1 ms", "1 ms", "tick", "1 ms", "1 ms"]);
  });

  it("goes on as soon as they are answered [EX25]", () => {
    const { pace, due, state, run } = openFake();
    state.inFlight = 1;
    pace.next(() => state.taken++);
    run();
    state.inFlight = 0;
    assertEquals(pace.bytes(), 131_072);
    run();
    assertEquals([state.taken, due], [1, ["tick", "1 ms"]]);
  });

  it("rests after each tenth tick for a second after one has begun [EX25] [XA23]", () => {
    const { pace, due, state, run } = openFake();
    /** Takes so many times; gives after which of them it waited. */
    function take(times: number): number[] {
      const rests: number[] = [];
      for (let time = 1; time <= times; time++) {
        due.length = 0;
        pace.next(() => state.taken++);
        run();
        if (due.length > 1) rests.push(time);
        if (due.length > 1) run();
        assertEquals(due, due.length > 1 ? ["tick", "1 ms"] : ["tick"]);
      }
      return rests;
    }
    assertEquals(take(20), []);
    state.begun++;
    assertEquals(pace.bytes(), 65_536);
    assertEquals(take(25), [10, 20]);
    state.ms = 999;
    assertEquals(take(10), [5]);
    state.ms = 1000;
    assertEquals(pace.bytes(), 131_072);
    assertEquals(take(20), []);
    assertEquals(state.taken, 75);
  });

  it("waits no more than twice behind a tick, with the rest [EX25]", () => {
    const { pace, due, state, run } = openFake();
    state.begun++;
    for (let time = 1; time <= 10; time++) {
      if (time === 10) state.inFlight = 1;
      due.length = 0;
      pace.next(() => state.taken++);
      for (let steps = 0; steps < 3; steps++) run();
    }
    assertEquals([state.taken, due], [10, ["tick", "1 ms", "1 ms"]]);
  });
});
