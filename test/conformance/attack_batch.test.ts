import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Attacks on batches", ({ batch, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  const theirs = () => checksumTenant(service().database.admin, 2);
  const update = (fid: unknown, note: unknown = "x") => ({ filters: { fid }, fields: { note } });
  const good = update(1);

  it("writes no row of another tenant from any place of a batch [BA1]", async () => {
    const others = await theirs();
    const before = await mine();
    for (const place of [0, 7, 8, 15]) {
      const updates = Array.from(
        { length: 16 },
        (_, n) => update(n === place ? 1001 : n + 1, "ba1"),
      );
      const message = assertMatched(await batch("deals", { updates }), 404, 0);
      assert(message.startsWith(`updates[${place}]: `), message);
    }
    assertEquals([await mine(), await theirs()], [before, others]);
  });

  it("answers 400 at the place of each update with odd keys or shapes [BA2] [BA3]", async () => {
    const before = await mine();
    const odd: readonly [unknown, RegExp][] = [
      [{ ...good, filter: {} }, /^updates\[1\]\.filter: /],
      [{ filters: { fid: 1 } }, /^updates\[1\]\.fields: /],
      [{ ...good, filters: [] }, /^updates\[1\]\.filters: /],
      [{ ...good, filters: {} }, /^updates\[1\]\.filters: /],
      [[good], /^updates\[1\]: /],
      [null, /^updates\[1\]: /],
      ["x", /^updates\[1\]: /],
      [{ ...good, fields: { __proto__: 1, ["constructor"]: 2 } }, /^updates\[1\]\.fields/],
      [{ ...good, fields: { fid: 2 } }, /^updates\[1\]\.fields\.fid: /],
      [{ ...good, fields: { tenant_id: 2 } }, /^updates\[1\]\.fields\.tenant_id: /],
      [{ ...good, fields: { secret_score: 2 } }, /^updates\[1\]\.fields\.secret_score: /],
    ];
    for (const [one, path] of odd) {
      assertMatch(assertRejected(await batch("deals", { updates: [good, one] }), 400), path);
    }
    for (const updates of [undefined, null, {}, "x", [], Array(201).fill(good)]) {
      assertRejectedAt(await batch("deals", { updates }), "updates");
    }
    assertRejected(await batch("deals", { updates: [good], filters: {} }), 400, /^filters: /);
    assertEquals(await mine(), before);
  });

  it("runs no value as SQL, whatever its place [BA4]", async () => {
    const values = ["'; drop table deals", "$1", "\\", "%s", "{}"];
    const updates = values.map((value, n) => update(20 + n, value.slice(0, 10)));
    const { results } = assertOk(await batch("deals", { updates })) as { results: unknown[] };
    assertEquals(results.length, values.length);
    const notes = await run("select note from deals where fid between 20 and 24 order by fid");
    assertEquals(notes.map(({ note }) => note), values.map((value) => value.slice(0, 10)));
  });

  it("reports a conflict at its place, without details of the other row [BA5]", async () => {
    const before = await mine();
    const updates = [
      good,
      { filters: { fid: 2 }, fields: { external_no: 900 } },
      { filters: { fid: 3 }, fields: { external_no: 900 } },
    ];
    const message = assertRejected(await batch("deals", { updates }), 409);
    assertMatch(message, /^updates\[2\]\.fields\.external_no: /);
    assert(!/900|constraint|index|Deal/.test(message), message);
    assertEquals(await mine(), before);
  });

  it("lets no update succeed because of an earlier one that is undone [BA6]", async () => {
    const updates = [
      { filters: { fid: 30 }, fields: { note: "stepped" } },
      { filters: { fid: 30, note: "stepped" }, fields: { note: "twice" } },
      { filters: { fid: 4000 }, fields: { note: "never" } },
    ];
    const before = await mine();
    assertMatched(await batch("deals", { updates }), 404, 0);
    assertMatched(await batch("deals", { updates: [updates[1]] }), 404, 0);
    assertEquals(await mine(), before);
  });

  it("lets batches that update the same rows in different orders succeed, or rejects them with a message [BA7]", async () => {
    const fids = [40, 41, 42, 43, 44];
    const orders = [fids, [...fids].reverse(), [42, 40, 44, 41, 43], [43, 44, 40, 42, 41]];
    const sent = await Promise.all(
      Array.from(
        { length: 12 },
        (_, n) => batch("deals", { updates: orders[n % 4]!.map((fid) => update(fid, `b${n}`)) }),
      ),
    );
    const won = sent.flatMap((response, n) => response.status === 200 ? [`b${n}`] : []);
    for (const response of sent) {
      if (response.status === 200) continue;
      assertRejected(response, 503, "nothing was changed");
      assert(response.headers.has("retry-after"));
    }
    const notes = await run("select distinct note from deals where fid between 40 and 44");
    assertEquals(notes.length, 1, "a batch is there as a whole");
    assert(won.includes(String(notes[0]!["note"])));
  });

  it("answers 403 for a credential table before the body is read [BA8]", async () => {
    const raw = '{"updates":[';
    const message = assertRejected(await batch("user_passwords", undefined, { raw }), 403);
    assert(!message.includes("updates"), message);
  });
}, { writes: "rows" });
