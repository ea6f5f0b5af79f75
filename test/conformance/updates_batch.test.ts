import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** An update of one row of `deals`. */
const update = (fid: number, fields: Record<string, unknown>) => ({ filters: { fid }, fields });

describeService("Update Batch", ({ kind, query, single, batch, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);
  const theirs = () => checksumTenant(service().database.admin, 2);
  const notes = async (...fids: number[]) =>
    (await run(`select note from deals where fid in (${fids}) and tenant_id = 1 order by fid`))
      .map(({ note }) => note);

  it("updates each row and responds with one result for each update [U51] [U54] [U57]", async () => {
    const others = await theirs();
    const updates = [update(20, { note: "b20" }), update(21, { note: "b21" })];
    assertEquals(assertOk(await batch("deals", { updates })), {
      success: true,
      table: "deals",
      results: [{ matched: 1, updated: 1 }, { matched: 1, updated: 1 }],
    });
    const again = [updates[0], update(21, { note: "other" })];
    assertEquals(assertOk(await batch("deals", { updates: again }))["results"], [
      { matched: 1, updated: 0 },
      { matched: 1, updated: 1 },
    ]);
    assertEquals(await notes(20, 21), ["b20", "other"]);
    assertEquals(await theirs(), others);
  });

  it("lets each update see the earlier ones, even two of the same row [U55]", async () => {
    const updates = [
      update(22, { note: "first" }),
      { filters: { fid: 22, note: "first" }, fields: { note: "second" } },
      { filters: { note: "second" }, fields: { note: "third" } },
    ];
    const body = assertOk(await batch("deals", { updates }));
    assertEquals(body["results"], Array(3).fill({ matched: 1, updated: 1 }));
    assertEquals(await notes(22), ["third"]);
  });

  it("takes 200 updates of several shapes in order [U52] [U55]", async () => {
    const updates = Array.from(
      { length: 200 },
      (_, n) =>
        n % 3 === 0
          ? update(23, { note: `n${n}` })
          : n % 3 === 1
          ? { filters: { fid: 23, note: `n${n - 1}` }, fields: { note: `n${n}` } }
          : { filters: { external_no: 23, note: `n${n - 1}` }, fields: { note: `n${n}` } },
    );
    const { results } = assertOk(await batch("deals", { updates })) as { results: unknown[] };
    assertEquals(results, Array(200).fill({ matched: 1, updated: 1 }));
    assertEquals(await notes(23), ["n199"]);
  });

  it("undoes all updates when one matches no row or several, and names it [U56] [U20]", async () => {
    const before = await mine();
    const stages = await run("select 1 from deals where tenant_id = 1 and stage = 'lead'");
    const of = async (bad: unknown, place: number) => {
      const updates: unknown[] = [30, 31, 32, 33].map((fid) => update(fid, { note: "undone" }));
      updates.splice(place, 0, bad);
      return await batch("deals", { updates });
    };
    for (const place of [0, 2, 4]) {
      const none = assertMatched(await of(update(999999, { note: "x" }), place), 404, 0);
      assertEquals(none, `updates[${place}]: No row matches the filters`);
      const many = { filters: { stage: "lead" }, fields: { note: "x" } };
      const several = assertMatched(await of(many, place), 409, stages.length);
      assertMatch(several, new RegExp(`^updates\\[${place}\\]: ${stages.length} rows match`));
    }
    assertEquals(await mine(), before);
  });

  it("reports the first update that fails [U56]", async () => {
    const before = await mine();
    const taken = { filters: { fid: 34 }, fields: { external_no: 35 } };
    const none = update(999999, { note: "x" });
    assertMatched(await batch("deals", { updates: [none, taken] }), 404, 0);
    const [{ unique }] = await run(`select exists (select from pg_index
      where indrelid = 'deals'::regclass and indisunique and not indisprimary) "unique"`) as [
      { unique: boolean },
    ];
    if (unique) {
      const response = await batch("deals", { updates: [update(36, { note: "x" }), taken, none] });
      assertMatch(assertRejected(response, 409), /^updates\[1\]\.fields\.external_no: /);
    }
    assertEquals(await mine(), before);
  });

  it("reaches no row of another tenant [S8]", async () => {
    const [row] = await run("select fid::int4 from deals where tenant_id = 2 limit 1");
    const before = await theirs();
    const updates = [update(37, { note: "x" }), {
      filters: { fid: row!["fid"], tenant_id: 2 },
      fields: { note: "x" },
    }];
    assertMatched(await batch("deals", { updates }), 404, 0);
    assertEquals(await theirs(), before);
  });

  it("rejects a body of another shape at its path [U51] [U52]", async () => {
    const fields = { note: "x" };
    const good = { filters: { fid: 1 }, fields };
    const cases: readonly (readonly [body: unknown, path: string])[] = [
      [{}, "updates"],
      [[], "body"],
      [{ updates: {} }, "updates"],
      [{ updates: [] }, "updates"],
      [{ updates: Array(201).fill(good) }, "updates"],
      [{ updates: [good, 5] }, "updates[1]"],
      [{ updates: [good, [good]] }, "updates[1]"],
      [{ updates: [good, { fields }] }, "updates[1].filters"],
      [{ updates: [{ filters: {}, fields }] }, "updates[0].filters"],
      [{ updates: [good, { ...good, field: 1 }] }, "updates[1].field"],
      [{ updates: [good, { filters: { fid: [1] }, fields }] }, "updates[1].filters.fid"],
      [{ updates: [good], filters: {} }, "filters"],
      [
        { updates: [good, { filters: { fid: 1 }, fields: { "no te": 1 } }] },
        'updates[1].fields["no te"]',
      ],
    ];
    for (const [body, path] of cases) assertRejectedAt(await batch("deals", body), path);
  });

  it("rejects names and values at their paths in all updates at once [U54] [U12] [U11]", async () => {
    const before = await mine();
    const updates = [
      update(1, { note: "x", fid: 5 }),
      { filters: { fid: "abc" }, fields: { nosuch: 1 } },
      update(2, { closed: "maybe" }),
    ];
    const response = await batch("deals", { updates });
    assertRejectedAt(
      response,
      "updates[0].fields.fid",
      "updates[1].filters.fid: ",
      "updates[1].fields.nosuch: ",
      "updates[2].fields.closed: ",
    );
    assertEquals(await mine(), before);
  });

  it("rejects more than 20,000 filters and fields [U53] [L20]", async () => {
    const filters = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`f${n}`, 1]));
    const updates = Array(20).fill({ filters, fields: { note: "x" } });
    assertRejectedAt(await batch("deals", { updates }), "updates[13]", "at most 20000");
  });

  it("undoes everything with tx=rollback, and obeys max-affected [U58]", async () => {
    const before = await mine();
    const updates = [update(40, { note: "r" }), update(41, { note: "r" })];
    const tried = await batch("deals", { updates }, { headers: { prefer: "tx=rollback" } });
    assertEquals(assertOk(tried)["results"], Array(2).fill({ matched: 1, updated: 1 }));
    const limited = await batch("deals", { updates }, { headers: { prefer: "max-affected=1" } });
    assertMatch(
      assertRejected(limited, 409),
      /^updates\[1\]: 2 rows match the filters, more than max-affected=1/,
    );
    assertEquals(await mine(), before);
    const allowed = await batch("deals", { updates }, { headers: { prefer: "max-affected=2" } });
    assertOk(allowed);
  });

  it("stores JSON of each update as it was sent, however many there are [U9] [TV31]", async () => {
    await run(
      `create table batch_json (id int4 primary key, tenant_id int4 not null, a jsonb, b json);
      insert into batch_json select n, 1, null, null from generate_series(1, 200) n;
      grant select, update (a, b) on batch_json to rowgate_app`,
    );
    await waitUntil(async () => (await query("batch_json")).status === 200);
    const updates = Array.from({ length: 200 }, (_, n) => ({
      filters: { id: n + 1 },
      fields: { a: Array.from({ length: 20 }, (_, m) => ({ m })), b: { "n": n } },
    }));
    const text = JSON.stringify({ updates }).replaceAll('"n":7}', '"n":7.10}');
    assertOk(await batch("batch_json", undefined, { raw: text }));
    const wrong = await run(`select id from batch_json
      where (b->>'n')::numeric <> id - 1 + case when id = 8 then 0.1 else 0 end or a->19->>'m' <> '19'`);
    assertEquals(wrong, []);
    assertEquals(await run("select b::text from batch_json where id = 8"), [{ b: '{"n":7.10}' }]);
  });

  it("reports an update that a rule skips at its place [U56] [E37]", async () => {
    await run(`create table batch_ruled (id int4 primary key, tenant_id int4 not null, a text);
      insert into batch_ruled values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three');
      create rule keep as on update to batch_ruled where old.id = 2 do instead nothing;
      grant select, update (a) on batch_ruled to rowgate_app`);
    await waitUntil(async () => (await query("batch_ruled")).status === 200);
    const of = (...ids: number[]) => ids.map((id) => ({ filters: { id }, fields: { a: "new" } }));
    const refused = await batch("batch_ruled", { updates: of(1, 2, 3) });
    assertEquals(assertRejected(refused, 409), "updates[1]: The database refused the change");
    assertEquals(assertOk(await batch("batch_ruled", { updates: of(1, 3) }))["results"], [
      { matched: 1, updated: 1 },
      { matched: 1, updated: 1 },
    ]);
    assertEquals(await run("select a from batch_ruled order by id"), [
      { a: "new" },
      { a: "two" },
      { a: "new" },
    ]);
  });

  it("sees the effects of earlier triggers, and reports an update that a trigger rejects [U55] [U63]", async () => {
    await run(`create table batch_triggered (id int4 primary key, tenant_id int4 not null, a text,
        unique (a) deferrable initially deferred);
      create function surprise() returns trigger language plpgsql as $$ begin
        if new.a = 'skipped' then return null; end if;
        if new.a = 'raised' then raise exception 'not this one'; end if;
        if new.a like 'others %' then
          update batch_triggered set a = 'by trigger ' || id where id in (2, 3) and id <> new.id;
        end if;
        return new;
      end $$;
      create trigger surprise before update on batch_triggered
        for each row execute function surprise();
      grant select, update (a) on batch_triggered to rowgate_app`);
    await waitUntil(async () => (await query("batch_triggered")).status === 200);
    const fill = () =>
      run(`delete from batch_triggered; insert into batch_triggered
        select n, 1, 'row ' || n from generate_series(1, 4) n`);
    const of = (filters: Record<string, unknown>, a: string) => ({ filters, fields: { a } });
    const send = async (...updates: unknown[]) => {
      await fill();
      const response = await batch("batch_triggered", { updates });
      if (response.status !== 200) {
        const [{ n }] = await run(`select count(*)::int4 n from batch_triggered
          where a = 'row ' || id`) as [{ n: number }];
        assertEquals(n, 4, "nothing is left of a batch that is undone");
      }
      return response;
    };
    const first = of({ id: 1 }, "others too");

    const skipped = await send(of({ id: 1 }, "x"), of({ id: 2 }, "skipped"), of({ id: 3 }, "y"));
    assertEquals(assertRejected(skipped, 409), "updates[1]: The database refused the change");
    const raised = await send(of({ id: 1 }, "x"), of({ id: 2 }, "raised"), of({ id: 99 }, "y"));
    assertEquals(assertRejected(raised, 400), "updates[1]: not this one");

    for (const found of [{ id: 2, a: "row 2" }, { a: "row 2" }]) {
      const gone = assertMatched(await send(first, of(found, "z")), 404, 0);
      assertEquals(gone, "updates[1]: No row matches the filters");
    }
    const { results } = assertOk(
      await send(first, of({ id: 2, a: "by trigger 2" }, "z"), of({ id: 3 }, "by trigger 3")),
    );
    assertEquals(results, [
      { matched: 1, updated: 1 },
      { matched: 1, updated: 1 },
      { matched: 1, updated: 0 },
    ]);
    assertEquals((await run("select a from batch_triggered order by id")).map(({ a }) => a), [
      ...["others too", "z", "by trigger 3", "row 4"],
    ]);

    const late = await send(of({ id: 1 }, "row 4"), of({ id: 2 }, "x"));
    assertMatch(assertRejected(late, 409), /^The new values conflict with existing data/);
    assertOk(await send(of({ id: 1 }, "row 4"), of({ id: 4 }, "row 1")));
  });

  it("changes each row once for every batch of those that run at once [U59]", async () => {
    await run(
      `create table batch_counts (id int4 primary key, tenant_id int4 not null, n int4, part text);
      insert into batch_counts select i, 1, 0, 'p' || i from generate_series(1, 6) i;
      grant select, update (n) on batch_counts to rowgate_app`,
    );
    await waitUntil(async () => (await query("batch_counts")).status === 200);
    // Compare-and-set of all rows, by key and not, in both orders.
    const updates = (round: number, reversed: boolean) => {
      const all = [1, 2, 3, 4, 5, 6].map((id) => ({
        filters: id % 2 === 0 ? { id, n: round } : { part: `p${id}`, n: round },
        fields: { n: round + 1 },
      }));
      return reversed ? all.reverse() : all;
    };
    for (let round = 0; round < (kind === "embedded" ? 2 : 4); round++) {
      const responses = await Promise.all(
        Array.from(
          { length: 8 },
          (_, n) => batch("batch_counts", { updates: updates(round, n % 2 === 1) }),
        ),
      );
      const statuses = responses.map(({ status }) => status).sort();
      assertEquals(statuses.filter((status) => status === 200).length, 1, String(statuses));
      for (const response of responses) {
        assert([200, 404, 503].includes(response.status), response.text);
        if (response.status === 404) {
          assertStringIncludes(response.text, "No row matches the filters");
        }
      }
      assertEquals(await run("select distinct n from batch_counts"), [{ n: round + 1 }]);
    }
  });

  it("does not succeed beside a single update on a state that only one of them saw [U59] [U22]", async () => {
    for (let round = 0; round < 5; round++) {
      await run("update deals set note = 'start' where tenant_id = 1 and fid in (44, 45)");
      const filters = { fid: 44, note: "start" };
      const responses = await Promise.all([
        batch("deals", {
          updates: [update(45, { note: `${round}` }), { filters, fields: { note: "batch" } }],
        }),
        single("deals", { filters, fields: { note: "single" } }),
      ]);
      assertEquals(responses.filter(({ status }) => status === 200).length, 1);
      assertEquals(responses[1]!.status === 200, (await notes(44))[0] === "single");
    }
  });
});
