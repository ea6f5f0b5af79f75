import { assertEquals, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Database } from "../../../src/database/postgres/database.ts";
import { makeFailure } from "../../../src/database/postgres/database_error.ts";
import type { ApiError } from "../../../src/basics/errors/api_error.ts";
import { findApiError } from "../../../src/http/respond.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { mintToken } from "../../../src/access/tokens/token_text.ts";
import { listParameters, openSubject, RECORD } from "./subject.ts";

describe("createTokenStore", () => {
  it("gives the access of a token [A1]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    assertEquals(await store.find(mintToken().token), {
      tokenId: "aaaaaaaaaaa",
      name: null,
      tenant: "acme",
      scopes: ["query"],
      tables: ["orders"],
      expiresAt: new Date("2027-01-01T00:00:00.000Z"),
    });
  });

  it("rejects malformed text without the database [A22] [AU5] [AU6]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    const { token } = mintToken();
    for (const text of ["", "rg_", `${token.slice(0, -1)}-`, token.slice(0, -6) + "000000"]) {
      assertEquals(await store.find(text), null);
    }
    assertEquals(state.asked, 0);
  });

  it("caches a look-up for less than 5 s, valid or not [A8]", async () => {
    for (const record of [RECORD, undefined]) {
      const { state, store } = openSubject();
      state.record = record;
      const { token } = mintToken();
      await store.find(token);
      state.now = 3999;
      await store.find(token);
      assertEquals(state.asked, 1);
      state.now = 4999;
      state.record = { ...RECORD, revoked_at: "2026-01-02T00:00:00.000Z", remaining_ms: 0 };
      assertEquals(await store.find(token), null);
      assertEquals(state.asked, 2);
    }
  });

  it("counts the 4 s from the start of the look-up, not from its end [A8]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    const { token } = mintToken();
    const first = store.find(token);
    while (state.asked === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    state.now = 3000;
    await first;
    state.now = 4000;
    await store.find(token);
    assertEquals(state.asked, 2);
  });

  it("expires with the token by the database's clock [A5]", async () => {
    const { state, store } = openSubject();
    state.record = { ...RECORD, remaining_ms: 100 };
    const { token } = mintToken();
    await store.find(token);
    state.record = { ...RECORD, remaining_ms: 0 };
    state.now = 99;
    assertEquals((await store.find(token))?.tenant, "acme");
    state.now = 100;
    assertEquals(await store.find(token), null);
  });

  it("looks up a token once for many requests at a time [AU18]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    const { token } = mintToken();
    const found = await Promise.all(Array.from({ length: 500 }, () => store.find(token)));
    assertEquals(state.asked, 1);
    for (const access of found) assertStrictEquals(access, found[0]);
  });

  it("follows a token whose tenant was changed within 5 s, and gives one tenant [AU16]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    const { token } = mintToken();
    assertEquals((await store.find(token))?.tenant, "acme");
    state.record = { ...RECORD, tenant: "other" };
    state.now = 3999;
    assertEquals((await store.find(token))?.tenant, "acme");
    state.now = 4000;
    const responses = await Promise.all(Array.from({ length: 50 }, () => store.find(token)));
    assertEquals(new Set(responses.map((access) => access?.tenant)), new Set(["other"]));
    assertEquals(state.asked, 2);
  });

  it("compares no token with another: the database gets a digest alone [AU11]", async () => {
    const parameters: unknown[] = [];
    const database = {
      run(compile: (sql: typeof listParameters) => readonly unknown[]) {
        parameters.push(...compile(listParameters));
        return Promise.resolve([]);
      },
    } as unknown as Database;
    const store = createTokenStore(database);
    for (let attempt = 0; attempt < 20; attempt++) {
      const { token } = mintToken();
      assertEquals(await store.find(token), null);
      const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
      const hex = [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0"));
      assertEquals(parameters.splice(0), [hex.join("")]);
    }
  });

  it("is 503, not 401, while the database cannot be asked, and caches nothing [AU17]", async () => {
    const { state, store } = openSubject();
    const { token } = mintToken();
    const failures = [makeFailure("unavailable", "ECONNREFUSED"), makeFailure("stale", "42P01")];
    for (const failure of [...failures, makeFailure("permission", "42501")]) {
      state.failure = failure;
      const error = findApiError(await assertRejects(async () => await store.find(token)));
      assertEquals(error?.status, 503);
      assertEquals(error?.headers["Retry-After"], "1");
    }
    state.failure = undefined;
    state.record = RECORD;
    assertEquals((await store.find(token))?.tenant, "acme");
  });

  it("looks up unknown tokens together, two statements at a time, and known ones beside them [RE30] [L19]", async () => {
    const { state, store } = openSubject();
    state.record = RECORD;
    const { token } = mintToken();
    await store.find(token);
    state.now = 5000;
    const minted = Array.from({ length: 300 }, mintToken);
    const { digest: valid } = minted.at(-1)!;
    state.unknown = new Set(minted.map(({ digest }) => digest).filter((one) => one !== valid));
    const { promise, resolve: release } = Promise.withResolvers<void>();
    state.held = promise;
    const responses = minted.map(({ token }) => store.find(token));
    await new Promise((resolve) => setTimeout(resolve, 1));
    assertEquals(state.asked, 1 + 2);
    assertEquals(store.recall?.(token), "acme");
    state.held = undefined;
    assertEquals((await store.find(token))?.tenant, "acme");
    assertEquals(state.asked, 1 + 2 + 1);
    release();
    const found = await Promise.all(responses);
    assertEquals(found.map((access) => access?.tenant), [
      ...Array.from({ length: 299 }, () => undefined),
      "acme",
    ]);
    // The two that were first, 256 of those that waited, and the other 42.
    assertEquals(state.asked, 1 + 2 + 1 + 2);
  });

  it("knows a token again after any number of unknown ones, and many valid ones [L19]", async () => {
    const { state, store } = openSubject({ maxCached: 3 });
    state.held = Promise.resolve();
    state.record = RECORD;
    const valid = Array.from({ length: 30 }, mintToken);
    for (const { token } of valid) await store.find(token);
    state.record = undefined;
    for (let number = 0; number < 50; number++) await store.find(mintToken().token);
    for (const { token } of valid) assertEquals(store.recall?.(token), "acme");
    // One that has ended is unknown from then on.
    state.now = 4000;
    await store.find(valid[0]!.token);
    assertEquals(store.recall?.(valid[0]!.token), undefined);
  });

  it("runs as many statements as are set, and rejects what has waited too long for one [RE30] [L19]", async () => {
    const { state, store } = openSubject({ tokenLookUps: 3, poolWaitMs: 70 });
    const { promise, resolve: release } = Promise.withResolvers<void>();
    state.held = promise;
    const busy: ApiError[] = [];
    const responses = Array.from({ length: 100 }, mintToken).map(({ token }) =>
      Promise.resolve(store.find(token)).catch((error) => void busy.push(error))
    );
    state.now = 71;
    release();
    await Promise.all(responses);
    assertEquals([state.asked, busy.length], [3, 97]);
    assertEquals(busy[0]!.status, 503);
    assertMatch(busy[0]!.message, /could not be looked up within 70 ms/);
  });

  it("rejects unknown tokens while 10,000 wait, and looks these up [RE30] [L19]", async () => {
    const { state, store } = openSubject({ tokenLookUps: 1 });
    const { promise, resolve: release } = Promise.withResolvers<void>();
    state.held = promise;
    const busy: ApiError[] = [];
    const responses = Array.from({ length: 10_005 }, mintToken).map(({ token }) =>
      Promise.resolve(store.find(token)).catch((error) => void busy.push(error))
    );
    release();
    const found = await Promise.all(responses);
    assertEquals(found.filter((access) => access === null).length, 10_001);
    assertEquals(busy.map(({ status }) => status), [503, 503, 503, 503]);
    assertMatch(busy[0]!.message, /At most 10000 requests wait .* again in a second/);
    assertEquals(state.asked, 1 + Math.ceil(10_000 / 256));
  });
});
