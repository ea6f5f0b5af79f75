// Sessions of a pool: when they are opened, replaced, closed, and used again. They are fakes.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openCircuit } from "../../../src/database/postgres/circuit.ts";
import { makeFailure } from "../../../src/database/postgres/database_error.ts";
import { Pool, type PoolOptions } from "../../../src/database/postgres/pool.ts";
import type { Session } from "../../../src/database/postgres/session.ts";
import { sleep } from "../../integration/faults/load.ts";

const TEND_MS = 5;

/** Waits for all that is to happen, and for anything that is not: by turns, which a busy machine delays. */
async function later(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await sleep(TEND_MS);
}

type Fake = Session & { readonly number: number };

/** A pool, and the sessions that it has opened. */
function open({ free = 1, fails = () => false, ...options }: Partial<PoolOptions> & {
  free?: number;
  fails?: (opened: number) => boolean;
} = {}) {
  const all: Fake[] = [];
  let most = 0;
  let attempts = 0;
  const isLive = (session: Fake) => session.isOpen();
  const pool = new Pool({
    size: 3,
    idleSize: 3,
    tendMs: TEND_MS,
    circuit: openCircuit(),
    open() {
      if (fails(++attempts)) return Promise.resolve(makeFailure("unavailable", "53300"));
      const session = makeSession(all.length, free);
      all.push(session);
      most = Math.max(most, all.filter(isLive).length);
      return Promise.resolve(session);
    },
    ...options,
  });
  const acquire = async () => {
    const session = await pool.acquire(1000);
    assert(!("kind" in session));
    return session as Fake;
  };
  return {
    release: (session: Session) => pool.release(session),
    close: (timeoutMs: number) => pool.close(timeoutMs),
    acquire,
    all,
    live: () => all.filter(isLive).map(({ number }) => number),
    most: () => most,
    attempts: () => attempts,
  };
}

function makeSession(number: number, free: number): Fake {
  let isOpen = true;
  let ended: (() => void) | undefined;
  let released: Promise<void> | undefined;
  const end = () => {
    isOpen = false;
    ended?.();
  };
  const fake: Omit<Fake, "constructor"> = {
    number,
    free,
    sql: undefined as unknown as Session["sql"],
    standby: false,
    readOnly: false,
    openedMs: performance.now(),
    farewell: () => undefined,
    isOpen: () => isOpen,
    watch: (listener) => ended = listener,
    takeRows: () => ({ pause() {}, resume() {} }),
    cancel() {},
    isCertain: () => true,
    awaitCancels: () => Promise.resolve(true),
    close: end,
    destroy: end,
    identity: undefined,
    abandon(settled) {
      end();
      released = settled.then(() => {});
    },
    get released() {
      return released;
    },
  };
  return fake as Fake;
}

describe("Pool", () => {
  it("opens one session for the first request, and then all others that it keeps [R49]", async () => {
    const pool = open();
    await later();
    assertEquals(pool.live(), []);
    pool.release(await pool.acquire());
    assertEquals(pool.live(), [0]);
    await later();
    assertEquals(pool.live(), [0, 1, 2]);
    await pool.close(0);
    assertEquals(pool.live(), []);
  });

  it("keeps no more than it is told to, and closes the others when they were idle [R49]", async () => {
    const pool = open({ idleSize: 1, idleMs: 40 });
    const busy = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
    for (const session of busy) pool.release(session);
    assertEquals(pool.live().length, 3);
    await later();
    assertEquals(pool.live(), [2]);
    await pool.close(0);
  });

  it("opens none ahead of requests when few connections are left, but one for each that waits", async () => {
    const pool = open({ free: 0.1 });
    pool.release(await pool.acquire());
    await later();
    assertEquals(pool.live(), [0, 1]);
    const busy = [await pool.acquire(), await pool.acquire(), await pool.acquire()];
    assertEquals(new Set(busy).size, 3);
    await pool.close(0);
  });

  it("leaves a server alone that lets it have no more, and fails no request for that", async () => {
    const pool = open({ fails: (attempt) => attempt > 1 });
    pool.release(await pool.acquire());
    await later();
    assertEquals(pool.attempts(), 2);
    assertEquals((await pool.acquire()).number, 0);
    await pool.close(0);
  });

  it("replaces old sessions, one at a time, after it has opened the new one", async () => {
    const pool = open({ lifeMs: 60 });
    pool.release(await pool.acquire());
    await later();
    assertEquals(pool.live().length, 3);
    assert(pool.live()[0]! > 0, "the first one was not replaced");
    assertEquals(pool.most(), 4);
    await pool.close(0);
  });

  it("replaces one that is in use when it is returned", async () => {
    const pool = open({ size: 1, idleSize: 1, lifeMs: 30 });
    const session = await pool.acquire();
    await later();
    assertEquals([session.isOpen(), pool.most()], [true, 2]);
    pool.release(session);
    assertEquals([session.isOpen(), pool.live().length], [false, 1]);
    await pool.close(0);
  });

  it("opens another one for one that ended while it was idle", async () => {
    const pool = open({ size: 2, idleSize: 2 });
    pool.release(await pool.acquire());
    await later();
    pool.all[0]!.destroy();
    await later();
    assertEquals(pool.live(), [1, 2]);
    await pool.close(0);
  });
});
