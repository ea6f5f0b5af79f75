import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openRunningStatements } from "../../../../src/postgres/pool/running_statements.ts";

function open() {
  let nowMs = 0;
  const running = openRunningStatements(() => nowMs);
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
  it("lets more of them run with each that was short", () => {
    const { run, most, count } = open();
    assertEquals(most(), 1);
    run(7, 10);
    assertEquals([most(), count()], [8, 0]);
  });

  it("lets one run as soon as one takes long, and not only when it has ended", () => {
    const { run, most, start, wait, count } = open();
    run(7, 10);
    const end = start();
    wait(100);
    assertEquals([most(), count()], [8, 1]);
    wait(1);
    assertEquals(most(), 1);
    end();
    assertEquals([most(), count()], [1, 0]);
  });

  it("remembers a long one for a second, however many short ones there are", () => {
    const { run, most } = open();
    run(7, 10);
    run(1, 5000);
    run(100, 10);
    assertEquals(most(), 1);
    run(3, 10);
    assertEquals(most(), 4);
  });

  it("notices a long one behind short ones that began later", () => {
    const { run, most, start, wait } = open();
    start();
    wait(90);
    start();
    run(5, 3);
    assertEquals(most(), 1);
  });
});
