import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import type { CurrentCatalogue, Refresh } from "../../../src/catalogue/current_catalogue.ts";
import { retryOnFreshCatalogue } from "../../../src/catalogue/retry_on_fresh_catalogue.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { DatabaseError, makeFailure } from "../../../src/database/postgres/database_error.ts";

const UNKNOWN_NAME = new ApiError(400, "unknown", { stale: true });
const DROPPED_COLUMN = new DatabaseError(makeFailure("stale", "42703"), { write: false });

/** Catalogues 0, 1, 2 …: each refresh brings the next one, as long as `fresh` says so. */
function open({ fresh = true } = {}) {
  const state = { inForce: 0, refreshes: [] as Refresh[] };
  const source = {
    current: () => ({ number: state.inForce }) as unknown as Catalogue,
    refresh(_seen: Catalogue, why: Refresh) {
      state.refreshes.push(why);
      if (fresh) state.inForce++;
      return Promise.resolve(fresh);
    },
  } as unknown as CurrentCatalogue;
  const seen: number[] = [];
  const run = (attempt: (number: number) => string | Promise<string>) =>
    retryOnFreshCatalogue(async (current) => {
      const { number } = await current() as unknown as { number: number };
      seen.push(number);
      return await attempt(number);
    }, { source, table: "deals" });
  return { run, seen, state };
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

describe("retryOnFreshCatalogue", () => {
  it("makes one attempt when it succeeds, or fails for a reason that no catalogue can mend", async () => {
    const { run, seen, state } = open();
    assertEquals(await run(() => "done"), "done");
    await assertRejects(() => run(throwing(new ApiError(409, "taken"))), ApiError, "taken");
    const lost = new DatabaseError(makeFailure("lost", "08006"), { write: true });
    await assertRejects(() => run(throwing(lost)), DatabaseError);
    assertEquals([seen, state.refreshes], [[0, 0, 0], []]);
  });

  it("makes one more on a fresh catalogue after an unknown name, and no third [T39]", async () => {
    const { run, seen, state } = open();
    const attempt = (number: number) => number === 1 ? "found" : throwing(UNKNOWN_NAME)();
    assertEquals(await run(attempt), "found");
    assertEquals(state.refreshes, [{ reason: "rejected", failed: undefined }]);
    await assertRejects(() => run(throwing(UNKNOWN_NAME)), ApiError, "unknown");
    assertEquals(seen, [0, 1, 1, 2]);
  });

  it("says which statement failed, so that a later reading is waited for [T40]", async () => {
    const { run, state } = open();
    const revoked = new DatabaseError(makeFailure("permission", "42501"), { write: true });
    const value = new ApiError(400, "value", { cause: DROPPED_COLUMN, stale: true });
    for (const error of [DROPPED_COLUMN, revoked, value]) {
      await assertRejects(() => run(throwing(error)));
    }
    assertEquals(state.refreshes.map(({ failed }) => failed), [
      "deals 42703",
      "deals 42501",
      "deals 42703",
    ]);
  });

  it("is 400 when the database still cannot do it [T42]", async () => {
    for (const fresh of [true, false]) {
      const { run, seen } = open({ fresh });
      const error = await assertRejects(() => run(throwing(DROPPED_COLUMN)), ApiError);
      assertEquals([error.status, error.cause], [400, DROPPED_COLUMN]);
      assertEquals(seen.length, fresh ? 2 : 1);
    }
  });

  it("compares a failure with the catalogue in force at last, also when that changed meanwhile", async () => {
    const compared: unknown[] = [];
    let inForce = 0;
    const source = {
      current: () => ({ number: inForce++ }) as unknown as Catalogue,
      refresh(catalogue: Catalogue) {
        compared.push((catalogue as unknown as { number: number }).number);
        return Promise.resolve(false);
      },
    } as unknown as CurrentCatalogue;
    const attempt = retryOnFreshCatalogue(async (current) => {
      await current();
      await current();
      throw UNKNOWN_NAME;
    }, { source, table: "deals" });
    await assertRejects(() => attempt, ApiError, "unknown");
    assertEquals(compared, [1]);
  });

  it("rejects as the catalogue does that was never loaded [R35]", async () => {
    const stale = new DatabaseError(makeFailure("stale", "42P01"), { write: false });
    const source = { current: () => Promise.reject(stale) } as unknown as CurrentCatalogue;
    await assertRejects(
      () => retryOnFreshCatalogue(async (current) => await current(), { source, table: "deals" }),
      DatabaseError,
    );
  });
});
