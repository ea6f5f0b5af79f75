import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { estimateDistance } from "../../../../src/postgres/pool/distance.ts";
import { openRunningStatements } from "../../../../src/postgres/pool/running_statements.ts";

function open({ distanceMs = 0, all = 1, waitMs = 5000 } = {}) {
  let nowMs = 0;
  const [distance, countAll, now] = [{ ms: () => distanceMs }, () => all, () => nowMs];
  const running = openRunningStatements({ distance, countAll, waitMs, now });
  return {
    ...running,
    wait: (ms: number) => nowMs += ms,
    /** Runs one after the other. */
    run(times: number, ms: number) {
      for (let time = 0; time < times; time++) {
        const end = running.start();
        nowMs += ms;
        end();
      }
    },
  };
}

describe("openRunningStatements [RE33]", () => {
  it("lets two of them run at first, and more with each that was short", () => {
    const { run, most, count } = open();
    assertEquals(most(), 2);
    run(7, 6);
    assertEquals([most(), count()], [9, 0]);
  });

  it("lets one run while any takes long, and once two of them took long", () => {
    const { run, most, start, wait, count } = open();
    run(7, 4);
    const end = start();
    wait(6);
    assertEquals([most(), count()], [9, 1]);
    wait(1);
    assertEquals(most(), 1);
    wait(100);
    end();
    assertEquals([most(), count()], [10, 0]);
    run(1, 7);
    assertEquals(most(), 1);
  });

  it("lets one run until short ones take most of the time", () => {
    const { run, most } = open();
    run(7, 5);
    run(3, 2500);
    run(50, 5);
    assertEquals(most(), 1);
    run(100, 5);
    assertEquals(most() > 20, true, `${most()}`);
  });

  it("counts their time, not their number", () => {
    const { run, most } = open();
    for (let pair = 0; pair < 50; pair++) {
      run(1, 5);
      run(1, 10);
    }
    assertEquals(most(), 1);
    for (let round = 0; round < 50; round++) {
      run(40, 2);
      run(1, 20);
    }
    assertEquals(most() > 20, true, `${most()}`);
  });

  it("takes no notice of one that takes long among others, however long", () => {
    const { run, most } = open();
    for (let round = 0; round < 50; round++) {
      run(30, 1);
      run(1, 1000);
      assertEquals(most(), 2 + (round + 1) * 31);
    }
  });

  it("takes no notice of a pause of the service, in which all seem to take long", () => {
    const { run, most, start, wait } = open({ all: 8 });
    run(1000, 2);
    const ends = Array.from({ length: 8 }, start);
    wait(30);
    for (const end of ends) end();
    run(40, 2);
    assertEquals(most() > 8, true, `${most()}`);
  });

  it("allows as many times as long as two processors need for all that run", () => {
    const { run, most } = open({ all: 10 });
    run(20, 30);
    assertEquals(most(), 22);
    run(20, 31);
    assertEquals(most(), 1);
  });

  it("remembers how many ran when it began", () => {
    let [all, nowMs] = [10, 0];
    const { start, most } = openRunningStatements({
      ...{ distance: { ms: () => 0 }, waitMs: 5000 },
      ...{ countAll: () => all, now: () => nowMs },
    });
    start();
    nowMs = 30;
    all = 1;
    assertEquals(most(), 2);
    nowMs = 31;
    assertEquals(most(), 1);
  });

  it("notices a long one behind short ones that began later", () => {
    const { run, most, start, wait } = open();
    start();
    wait(3);
    start();
    run(2, 2);
    assertEquals(most(), 1);
  });

  it("holds up no other for more than a second", () => {
    const { isHeldUp, start, wait } = open();
    assertEquals(isHeldUp(), false);
    const end = start();
    wait(1000);
    assertEquals(isHeldUp(), false);
    wait(1);
    assertEquals(isHeldUp(), true);
    end();
    assertEquals(isHeldUp(), false);
  });

  it("holds up others for four seconds once a report ran beside a report, until a short one did", () => {
    const { isHeldUp, start, run, wait } = open();
    let end = start();
    wait(1001);
    // Beside a report, for a second: it counts as short.
    run(1, 1000);
    end();
    end = start();
    wait(1001);
    assertEquals(isHeldUp(), true);
    const endBeside = start();
    wait(500);
    end();
    wait(501);
    endBeside();

    end = start();
    wait(4000);
    assertEquals(isHeldUp(), false);
    wait(1);
    assertEquals(isHeldUp(), true);
    run(1, 20);
    end();
    start();
    wait(1001);
    assertEquals(isHeldUp(), true);
  });

  it("holds up others as long when two reports begin together, and gives them a turn before they are rejected", () => {
    for (const [waitMs, patienceMs] of [[5000, 4000], [2500, 2000], [500, 1000]] as const) {
      const { isHeldUp, start, wait } = open({ waitMs });
      const ends = [start(), start()];
      wait(1500);
      assertEquals(isHeldUp(), true);
      for (const end of ends) end();
      start();
      wait(patienceMs);
      assertEquals(isHeldUp(), false);
      wait(1);
      assertEquals(isHeldUp(), true);
    }
  });

  it("counts from the distance of Postgres, where every statement takes 40 ms", () => {
    const { run, most } = open({ distanceMs: 40 });
    run(7, 46);
    assertEquals(most(), 9);
    run(1, 50);
    assertEquals(most(), 10);
    run(20, 50);
    assertEquals(most(), 1);
  });
});

describe("estimateDistance [RE33]", () => {
  it("is the least that statements take, whatever the others do", () => {
    const { took, ms } = estimateDistance();
    for (let statement = 0; statement < 10_000; statement++) took(statement % 2 === 0 ? 40 : 900);
    assertEquals(ms() >= 40 && ms() < 42, true, `${ms()}`);
    took(0.5);
    assertEquals(ms(), 0.5);
    for (let statement = 0; statement < 100; statement++) took(5000);
    took(1);
    assertEquals(ms(), 1);
  });
});
