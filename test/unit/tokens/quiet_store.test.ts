import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeFailure } from "../../../src/postgres/database_error.ts";
import { findApiError } from "../../../src/http/respond.ts";
import { mintToken } from "../../../src/tokens/token_text.ts";
import { openSubject, RECORD } from "./subject.ts";

describe("createTokenStore, after 4 s without a request", () => {
  it("looks up the tokens before it with the first, in one statement [A8]", async () => {
    const { state, store, minted } = await openQuiet(3);
    const [first, second, third] = minted;
    state.unknown.add(third!.digest);
    const found = await Promise.all(
      [second!, first!, third!].map(({ token }) => store.find(token)),
    );
    assertEquals(state.asked, 1);
    assertEquals(state.digests.toSorted(), minted.map(({ digest }) => digest).toSorted());
    assertEquals(found.map((access) => access?.tenant), ["acme", "acme", undefined]);
    assertEquals(store.recall?.(third!.token), undefined);
    // What it found is cached for as long as that of any look-up.
    state.now += 3999;
    assertEquals(await Promise.all(minted.map(({ token }) => store.find(token))), [
      found[1]!,
      found[0]!,
      null,
    ]);
    assertEquals(state.asked, 1);
  });

  it("takes 32 tokens along at most, and none that has ended", async () => {
    const { state, store, minted } = await openQuiet(40);
    const [oldest] = minted;
    const last = minted.at(-1)!;
    state.unknown.add(last.digest);
    await store.find(oldest!.token);
    assertEquals(state.digests.length, 1 + 32);
    state.now += 4000;
    await store.find(oldest!.token);
    assertEquals(state.digests.length, 1 + 31);
    assertEquals(state.digests.includes(last.digest), false);
  });

  it("takes none along while others are asked for, or for a token that is new", async () => {
    const { state, store, minted } = await openQuiet(3);
    const [first, second] = minted;
    state.now -= 1;
    // It is still cached, and asked for.
    await store.find(first!.token);
    state.now += 3999;
    await store.find(first!.token);
    assertEquals(state.digests, [first!.digest]);
    state.now += 4000;
    const added = mintToken();
    await store.find(added.token);
    assertEquals(state.digests, [added.digest]);
    await store.find(second!.token);
    assertEquals(state.digests.length, 4);
  });

  it("fails for those that wait, and looks up each anew", async () => {
    const { state, store, minted } = await openQuiet(3);
    state.failure = makeFailure("unavailable", "ECONNREFUSED");
    const [first, second] = minted.map(({ token }) => store.find(token));
    for (const found of [first, second]) {
      assertEquals(findApiError(await assertRejects(async () => await found))?.status, 503);
    }
    state.failure = undefined;
    for (const { token } of minted) assertEquals((await store.find(token))?.tenant, "acme");
    assertEquals(state.asked, 1 + 3);
  });

  it("finds a token whose neighbour's record cannot be read", async () => {
    const { state, store, minted } = await openQuiet(2);
    const { token, digest } = minted[0]!;
    state.broken.add(digest);
    const [broken, found] = minted.map(({ token }) => store.find(token));
    await assertRejects(async () => await broken);
    assertEquals((await found)?.tenant, "acme");
    state.broken.clear();
    assertEquals((await store.find(token))?.tenant, "acme");
  });
});

/** Opens a store that has found some tokens, and then was not asked for 4 s. */
async function openQuiet(count: number) {
  const { state, store } = openSubject();
  state.record = RECORD;
  const minted = Array.from({ length: count }, mintToken);
  for (const { token } of minted) await store.find(token);
  state.asked = 0;
  state.now = 4000;
  return { state, store, minted };
}
