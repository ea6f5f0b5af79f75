import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openPace } from "../../../src/postgres/pace.ts";

/** Opens a pace among so many requests in flight, whose ticks and waits come when the test says so. */
function openFake() {
  const due: string[] = [];
  const callbacks: (() => void)[] = [];
  const state = { inFlight: 0, taken: 0 };
  const pace = openPace({
    isBusy: () => state.inFlight > 0,
    nextTick(callback) {
      due.push("tick");
      callbacks.push(callback);
    },
    wait(callback, ms) {
      due.push(`${ms} ms`);
      callbacks.push(callback);
    },
  });
  return { pace, due, state, run: () => callbacks.shift()?.() };
}

describe("the pace of an export", () => {
  it("goes on in the next tick where nothing else is in flight [EX25]", () => {
    const { pace, due, state, run } = openFake();
    assertEquals(pace.bytes(), 131_072);
    pace.next(() => state.taken++);
    assertEquals([state.taken, due], [0, ["tick"]]);
    run();
    assertEquals([state.taken, due], [1, ["tick"]]);
  });

  it("takes half as much while others are, and waits twice at most [EX25] [XA20] [XA21]", () => {
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
});
