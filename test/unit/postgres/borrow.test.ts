import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { borrow, type Lender } from "../../../src/postgres/borrow.ts";
import { DatabaseError, fail } from "../../../src/postgres/database_error.ts";
import { openGate } from "../../../src/postgres/admission.ts";
import { sleep } from "../../integration/faults/load.ts";

/** Sessions of a server that is silent: each look for one is written down, and gives nothing. */
function openSilent(size: number): { lender: Lender; limits: number[] } {
  const limits: number[] = [];
  const lender: Lender = {
    gate: openGate(size, 60_000),
    pool: {
      acquire(limitMs) {
        limits.push(limitMs);
        return Promise.resolve(fail("lost", "CONNECTION_CLOSED"));
      },
      release() {},
      renew() {},
      close: () => Promise.resolve(),
    },
    observe() {},
    used() {},
    settled() {},
  };
  return { lender, limits };
}

describe("borrow", () => {
  it("waits for a session only as long as its place in the queue has left over [DB12]", async () => {
    const { lender, limits } = openSilent(1);
    const leave = await lender.gate.enter();
    assert(typeof leave === "function");
    const use = () => Promise.reject(new Error("there is no session"));
    const waiting = borrow(lender, use, { write: false, again: () => false });
    await sleep(300);
    leave();
    assertEquals((await assertRejects(() => waiting, DatabaseError)).kind, "lost");
    assertEquals(limits.length, 1);
    assert(limits[0]! < 4710 && limits[0]! >= 1000, String(limits[0]));
  });

  it("begins no new wait when it looks for another session", async () => {
    const { lender, limits } = openSilent(1);
    const use = () => Promise.reject(new Error("there is no session"));
    let left = 1;
    await assertRejects(
      () => borrow(lender, use, { write: false, again: () => left-- > 0 }),
      DatabaseError,
    );
    assertEquals(limits.length, 2);
    assert(limits[1]! <= limits[0]!, limits.join());
  });
});
