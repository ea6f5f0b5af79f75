import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type SessionSource, withSession } from "../../../src/postgres/with_session.ts";
import { DatabaseError, makeFailure } from "../../../src/postgres/database_error.ts";
import { openGate } from "../../../src/postgres/admission.ts";
import { sleep } from "../../integration/faults/load.ts";

/** Sessions of a server that is silent: each look for one is written down, and gives nothing. */
function openSilent(size: number): { source: SessionSource; limits: number[] } {
  const limits: number[] = [];
  const source: SessionSource = {
    gate: openGate(size, 60_000),
    pool: {
      acquire(limitMs) {
        limits.push(limitMs);
        return Promise.resolve(makeFailure("lost", "CONNECTION_CLOSED"));
      },
      release() {},
      renew() {},
      close: () => Promise.resolve(),
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
    const waiting = withSession(source, use, { write: false, mayRepeat: () => false });
    await sleep(300);
    leave();
    assertEquals((await assertRejects(() => waiting, DatabaseError)).kind, "lost");
    assertEquals(limits.length, 1);
    assert(limits[0]! < 4710 && limits[0]! >= 1000, String(limits[0]));
  });

  it("begins no new wait when it looks for another session", async () => {
    const { source, limits } = openSilent(1);
    const use = () => Promise.reject(new Error("there is no session"));
    let left = 1;
    await assertRejects(
      () => withSession(source, use, { write: false, mayRepeat: () => left-- > 0 }),
      DatabaseError,
    );
    assertEquals(limits.length, 2);
    assert(limits[1]! <= limits[0]!, limits.join());
  });
});
