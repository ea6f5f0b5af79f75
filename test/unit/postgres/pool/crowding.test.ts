import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { watchCrowding } from "../../../../src/postgres/pool/crowding.ts";

/** Watches with probes that take what `ms` is at the moment; undefined: they do not run. */
function watch() {
  const state: { ms: number | undefined; probes: number } = { ms: 1, probes: 0 };
  let due: () => void = () => {};
  const { allows } = watchCrowding({
    least: 2,
    most: 8,
    probe() {
      state.probes++;
      return Promise.resolve(state.ms);
    },
    wait: (callback) => due = callback,
  });
  const pause = async () => {
    due();
    due = () => {};
    for (let tick = 0; tick < 3; tick++) await Promise.resolve();
  };
  /** Asks for more than the least until so many probes have run. */
  const ask = async (probes: number) => {
    for (let count = 0; count < probes; count++) {
      allows(2);
      await pause();
    }
  };
  const countAllowed = () => [2, 3, 4, 5, 6, 7, 8].find((running) => !allows(running));
  return { state, allows, ask, pause, countAllowed };
}

describe("watchCrowding [RE33]", () => {
  it("allows most while probes take as long as ever", async () => {
    const { ask, countAllowed, state } = watch();
    assertEquals(countAllowed(), 8);
    await ask(50);
    state.ms = 2.5;
    await ask(50);
    assertEquals(countAllowed(), 8);
  });

  it("takes one away for each late probe, down to the least", async () => {
    const { ask, countAllowed, state } = watch();
    await ask(1);
    state.ms = 2.6;
    await ask(1);
    assertEquals(countAllowed(), 7);
    await ask(4);
    assertEquals(countAllowed(), 3);
    await ask(10);
    assertEquals(countAllowed(), 2);
  });

  it("gives one back for four in time", async () => {
    const { ask, countAllowed, state } = watch();
    await ask(1);
    state.ms = 30;
    await ask(20);
    state.ms = 1;
    await ask(3);
    assertEquals(countAllowed(), 2);
    await ask(1);
    assertEquals(countAllowed(), 3);
    await ask(100);
    assertEquals(countAllowed(), 8);
  });

  it("takes nothing away for one late probe in six, such as a pause of the service", async () => {
    const { ask, countAllowed, state } = watch();
    for (let round = 0; round < 50; round++) {
      state.ms = 1;
      await ask(5);
      assertEquals(countAllowed(), 8);
      state.ms = 30;
      await ask(1);
    }
  });

  it("counts from what a probe takes at best, where Postgres is 40 ms away", async () => {
    const { ask, countAllowed, state } = watch();
    state.ms = 40;
    await ask(1);
    state.ms = 80;
    await ask(20);
    assertEquals(countAllowed(), 8);
    state.ms = 90;
    await ask(20);
    assertEquals(countAllowed(), 2);
  });

  it("probes only while a tenant wants more than the least, one at a time", async () => {
    const { allows, ask, pause, state } = watch();
    for (const running of [0, 1]) assertEquals(allows(running), true);
    await pause();
    assertEquals(state.probes, 0);
    allows(2);
    allows(3);
    await pause();
    assertEquals(state.probes, 1);
    await ask(3);
    assertEquals(state.probes, 4);
  });

  it("changes nothing when no probe could run", async () => {
    const { ask, countAllowed, state } = watch();
    await ask(1);
    state.ms = undefined;
    await ask(20);
    assertEquals(countAllowed(), 8);
  });
});
