import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findTimedTests } from "../../scripts/checks/timed_tests.ts";

const OWN = "test/checks/timed_tests.test.ts";

describe("the check of timed tests", () => {
  it("finds a test that reads the time, unless it says how often and why", async () => {
    // What a string or a comment says is no read: performance.now()
    assertEquals(await findTimedTests(OWN), []);
    const timed = "test/unit/runtime/timers.test.ts";
    assertEquals(await findTimedTests(timed), []);
    const [problem] = await findTimedTests(timed, {});
    assertMatch(problem!, /^test\/unit\/runtime\/timers.test.ts: reads the time 4 times \(lines /);
    assertMatch(problem!, /expected 0\. No test is timed/);
    const [fewer] = await findTimedTests(OWN, { [OWN]: { reads: 1, why: "" } });
    assertMatch(fewer!, /reads the time 0 times/);
    assertEquals(await findTimedTests("src/server/runtime/timers.ts", {}), []);
  });
});
