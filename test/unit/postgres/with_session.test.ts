import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  repeat,
  type SessionSource,
  withSession,
} from "../../../src/database/postgres/with_session.ts";
import {
  DatabaseError,
  type Failure,
  makeFailure,
} from "../../../src/database/postgres/database_error.ts";
import { TRANSACTION_LOST } from "../../../src/database/postgres/failure_kind.ts";
import { Gate } from "../../../src/database/postgres/gate.ts";
import { sleep } from "../../integration/faults/load.ts";

/** Sessions of a server that is silent: each look for one is written down, and gives nothing. */
function openSilent(size: number): { source: SessionSource; limits: number[] } {
  const limits: number[] = [];
  const source: SessionSource = {
    gate: new Gate(size, 60_000),
    pool: {
      acquire(limitMs) {
        limits.push(limitMs);
        return Promise.resolve(makeFailure("lost", "CONNECTION_CLOSED"));
      },
      release: () => undefined,
    },
    observe() {},
    onUsed() {},
    onSettled() {},
  };
  return { source, limits };
}

describe("withSession", () => {
  it("waits for a session only as long as its place in the queue has left over [DB12]", async () => {
    const { source, limits } = openSilent(1);
    const leave = await source.gate.enter();
    assert(typeof leave === "function");
    const use = () => Promise.reject(new Error("there is no session"));
    const waiting = withSession(source, use, { write: true });
    await sleep(300);
    leave();
    assertEquals((await assertRejects(() => waiting, DatabaseError)).kind, "lost");
    assertEquals(limits.length, 1);
    assert(limits[0]! < 4710 && limits[0]! >= 1000, String(limits[0]));
  });

  it("begins no new wait when it looks for another session", async () => {
    const { source, limits } = openSilent(1);
    const use = () => Promise.reject(new Error("there is no session"));
    await assertRejects(() => withSession(source, use, { write: false }), DatabaseError);
    assertEquals(limits.length, 2);
    assert(limits[1]! <= limits[0]!, limits.join());
  });
});

/** Runs `repeat` on a list of failures, after which there are rows; counts the attempts. */
async function run(failures: readonly Failure[], write: boolean, repeats = true) {
  let attempts = 0;
  const attempt = () => {
    const failure = failures[attempts++];
    return Promise.resolve(failure === undefined ? { rows: ["row"] } : { failure });
  };
  const outcome = await repeat(attempt, { first: await attempt(), write, repeats });
  return { outcome, attempts };
}

const DEADLOCK = makeFailure("serialization", "40P01");
const LOST = makeFailure("lost", "ECONNRESET");

describe("repeat", () => {
  it("tries a deadlock again up to three times [E38]", async () => {
    assertEquals(await run([DEADLOCK, DEADLOCK, DEADLOCK], true), {
      outcome: { rows: ["row"] },
      attempts: 4,
    });
    assertEquals(await run(Array(9).fill(DEADLOCK), true), {
      outcome: { failure: DEADLOCK },
      attempts: 4,
    });
  });

  it("tries a lost read once more, and a lost write never [E43] [E42]", async () => {
    assertEquals((await run([LOST], false)).attempts, 2);
    assertEquals(await run([LOST, LOST], false), { outcome: { failure: LOST }, attempts: 2 });
    assertEquals(await run([LOST], true), { outcome: { failure: LOST }, attempts: 1 });
  });

  it("runs a statement once more that was not begun, also a write [E42]", async () => {
    const lost = makeFailure("unavailable", TRANSACTION_LOST);
    for (const failure of [makeFailure("session", "57P05"), lost]) {
      assertEquals((await run([failure], true)).attempts, 2, failure.code);
      assertEquals((await run([failure, failure], true)).attempts, 2, failure.code);
    }
    assertEquals((await run([makeFailure("unavailable", "ECONNREFUSED")], true)).attempts, 1);
  });

  it("never runs a pipeline again as a whole [E42]", async () => {
    for (const failure of [DEADLOCK, LOST, makeFailure("session", "57P05")]) {
      assertEquals((await run([failure], false, false)).attempts, 1, failure.code);
    }
  });

  it("observes each failed attempt, and each repetition [H15]", async () => {
    const failures = [DEADLOCK, LOST, makeFailure("unavailable", "POOL_WAIT")];
    const reported: string[] = [];
    await repeat(() => Promise.resolve({ failure: failures.shift()! }), {
      first: { failure: failures.shift()! },
      write: false,
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
    assertEquals((await run([conflict], false)).attempts, 1);
  });
});
