import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeFailure } from "../../../src/postgres/database_error.ts";
import type { Failure } from "../../../src/postgres/database_error.ts";
import { repeat } from "../../../src/postgres/with_session.ts";

/** Runs `repeat` on a list of failures, after which there are rows; counts the attempts. */
async function run(failures: readonly Failure[], again: (failure: Failure) => boolean) {
  let attempts = 0;
  const attempt = () => {
    const failure = failures[attempts++];
    return Promise.resolve(failure === undefined ? { rows: ["row"] } : { failure });
  };
  const outcome = await repeat(attempt, { first: await attempt(), mayRepeat: again });
  return { outcome, attempts };
}

const DEADLOCK = makeFailure("serialization", "40P01");
const LOST = makeFailure("lost", "ECONNRESET");

describe("repeat", () => {
  it("tries a deadlock again up to three times [E38]", async () => {
    assertEquals(await run([DEADLOCK, DEADLOCK, DEADLOCK], () => false), {
      outcome: { rows: ["row"] },
      attempts: 4,
    });
    assertEquals(await run(Array(9).fill(DEADLOCK), () => false), {
      outcome: { failure: DEADLOCK },
      attempts: 4,
    });
  });

  it("tries a lost read once more, and a lost write never [E43] [E42]", async () => {
    assertEquals((await run([LOST], () => true)).attempts, 2);
    assertEquals(await run([LOST, LOST], () => true), { outcome: { failure: LOST }, attempts: 2 });
    assertEquals(await run([LOST], () => false), { outcome: { failure: LOST }, attempts: 1 });
  });

  it("observes each failed attempt, and each repetition [H15]", async () => {
    const failures = [DEADLOCK, LOST, makeFailure("unavailable", "POOL_WAIT")];
    const reported: string[] = [];
    await repeat(() => Promise.resolve({ failure: failures.shift()! }), {
      first: { failure: failures.shift()! },
      mayRepeat: () => true,
      observe(item) {
        if ("fault" in item) reported.push(`${item.kind} ${item.fault}`);
      },
    });
    assertEquals(reported, [
      ...["fault serialization", "retry serialization"],
      ...["fault lost", "retry lost"],
      "fault pool_wait",
    ]);
  });

  it("gives any other failure back at once", async () => {
    const conflict = makeFailure("conflict", "23505");
    assertEquals((await run([conflict], () => false)).attempts, 1);
  });
});
