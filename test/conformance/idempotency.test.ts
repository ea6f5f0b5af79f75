import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

/** The header with a key. */
const keyed = (key: string, headers: Record<string, string> = {}): SendOptions => ({
  headers: { "idempotency-key": `"${key}"`, ...headers },
});
const isReplayed = ({ headers }: ReceivedResponse) => headers.get("idempotent-replayed") === "true";

/** Sends twice, and asserts that the second answer is the first one's, byte for byte. */
async function sendTwice(send: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  const first = await send();
  assert(!isReplayed(first), "the first answer is not given again");
  const again = await send();
  assertEquals([again.status, again.text], [first.status, first.text]);
  assert(isReplayed(again), "the second answer is given again");
  return first;
}

describeService("Idempotency keys", (conversation) => {
  const { kind, single, bulk, batch, query, run, service } = conversation;
  const noteOf = async (fid: number) =>
    (await run(`select note from deals where fid = ${fid}`))[0]!["note"];
  const kept = async () =>
    Number((await run("select count(*)::int4 as n from rowgate.idempotency_keys"))[0]!["n"]);

  it("repeats the 200 of a compare-and-set by key whose answer was lost [IK5] [IK6] [IK7]", async () => {
    await run("update deals set note = 'old' where fid = 1");
    const body = { filters: { fid: 1, note: "old" }, fields: { note: "new" } };
    const first = await sendTwice(() => single("deals", body, { ...keyed("cas") }));
    assertEquals(assertOk(first)["updated"], 1);
    await run("update deals set note = 'old' where fid = 1");
    assertOk(await single("deals", body, keyed("cas")));
    assertEquals(await noteOf(1), "old");
    const { text } = await service().send("GET", "/metrics");
    assertMatch(text, /^rowgate_idempotent_replays_total [1-9]/m);
  });

  it("keeps a single update whose filters name no key [IK5] [IK6]", async () => {
    const body = { filters: { external_no: 2 }, fields: { note: "two" } };
    assertEquals(
      assertOk(await sendTwice(() => single("deals", body, keyed("pinned"))))["updated"],
      1,
    );
    assertEquals(await noteOf(2), "two");
    const same = await sendTwice(() => single("deals", body, keyed("unchanged")));
    assertEquals(assertOk(same)["updated"], 0);
  });

  it("keeps a 404, and a 409 with its number of rows [IK5]", async () => {
    const none = { filters: { fid: 4000 }, fields: { note: "x" } };
    assertMatched(await sendTwice(() => single("deals", none, keyed("none"))), 404, 0);
    const nowhere = { filters: { title: "nowhere" }, fields: { note: "x" } };
    assertMatched(await sendTwice(() => single("deals", nowhere, keyed("nowhere"))), 404, 0);
    const several = { filters: { status: "won" }, fields: { note: "x" } };
    assertMatched(await sendTwice(() => single("deals", several, keyed("several"))), 409, 15);
    await run("update deals set title = 'nowhere' where fid = 3");
    assertMatched(await single("deals", nowhere, keyed("nowhere")), 404, 0);
  });

  it("keeps a bulk update, with a limit and without [IK5] [IK6]", async () => {
    const body = { filters: { status: "lost" }, fields: { note: "bulk" } };
    assertEquals(
      assertOk(await sendTwice(() => bulk("deals", body, keyed("bulk"))))["updated"],
      15,
    );
    const prefer = { prefer: "max-affected=15" };
    const again = { ...body, fields: { note: "limited" } };
    const limited = await sendTwice(() => bulk("deals", again, keyed("limited", prefer)));
    assertEquals(assertOk(limited)["updated"], 15);
    const nothing = { filters: { title: "none at all" }, fields: { note: "bulk" } };
    assertEquals(
      assertOk(await sendTwice(() => bulk("deals", nothing, keyed("b0"))))["updated"],
      0,
    );
  });

  it("keeps a batch, and its 404 and 409 [IK5] [IK14]", async () => {
    const updates = [1, 2, 1].map((n, place) => ({
      filters: { fid: n },
      fields: { note: place === 1 ? "two" : `b${place}` },
    }));
    await run("update deals set note = 'two' where fid = 2");
    const first = await sendTwice(() => batch("deals", { updates }, keyed("batch")));
    const results = assertOk(first)["results"] as { updated: number }[];
    assertEquals(results.map(({ updated }) => updated), [1, 0, 1]);
    const wrong = [...updates, { filters: { fid: 4000 }, fields: { note: "x" } }];
    const none = await sendTwice(() => batch("deals", { updates: wrong }, keyed("batch none")));
    assertMatch(assertMatched(none, 404, 0), /^updates\[3\]: /);
    const many = [updates[0], { filters: { status: "won" }, fields: { note: "x" } }];
    const several = await sendTwice(() => batch("deals", { updates: many }, keyed("batch many")));
    assertMatch(assertMatched(several, 409, 15), /^updates\[1\]: /);
  });

  it("rejects another request with the same key, and changes nothing [IK8]", async () => {
    const body = { filters: { fid: 5 }, fields: { note: "first" } };
    assertOk(await single("deals", body, keyed("same")));
    const others = [
      () => single("deals", { ...body, fields: { note: "second" } }, keyed("same")),
      () => single("deals", { fields: body.fields, filters: body.filters }, keyed("same")),
      () => bulk("deals", body, keyed("same")),
      () => batch("deals", { updates: [body] }, keyed("same")),
      () => single("deals", body, keyed("same", { prefer: "max-affected=3" })),
      () => single("frozen", { filters: { id: 1 }, fields: { name: "x" } }, keyed("same")),
    ];
    for (const send of others) {
      const error = assertRejected(await send(), 422);
      assertEquals(
        error,
        'Idempotency-Key: "same" was used for another request, expected a new key',
      );
    }
    assertEquals(await noteOf(5), "first");
  });

  it("keeps no other answer of a request that changed nothing [IK10]", async () => {
    const before = await kept();
    const cases: [number, () => Promise<ReceivedResponse>][] = [
      [400, () => single("deals", { filters: { fid: 6 }, fields: { fid: 7 } }, keyed("other"))],
      [
        400,
        () => single("deals", { filters: { fid: 6 }, fields: { status: "no" } }, keyed("other")),
      ],
      [
        409,
        () => single("deals", { filters: { fid: 6 }, fields: { external_no: 7 } }, keyed("other")),
      ],
      [
        409,
        () =>
          single(
            "deals",
            { filters: { fid: 6 }, fields: { note: "x" } },
            keyed("other", { prefer: "max-affected=0" }),
          ),
      ],
      [
        409,
        () =>
          bulk(
            "deals",
            { filters: { status: "won" }, fields: { note: "x" } },
            keyed("other", { prefer: "max-affected=1" }),
          ),
      ],
      [
        409,
        () =>
          batch(
            "deals",
            { updates: [{ filters: { fid: 6 }, fields: { external_no: 7 } }] },
            keyed("other"),
          ),
      ],
      [
        409,
        () =>
          single("frozen", { filters: { mode: "silent" }, fields: { name: "x" } }, keyed("other")),
      ],
    ];
    for (const [status, send] of cases) {
      const response = await send();
      assertEquals(response.status, status, response.text);
      assertEquals(response.body["matched"], undefined);
    }
    assertEquals(await kept(), before);
    assertOk(
      await single("deals", { filters: { fid: 6 }, fields: { note: "ok" } }, keyed("other")),
    );
  });

  it("does not look at the key of a dry run, and keeps nothing of it [IK13]", async () => {
    const before = await kept();
    const body = { filters: { fid: 8 }, fields: { note: "dry" } };
    const prefer = { prefer: "tx=rollback" };
    for (const update of [single, bulk]) {
      assertEquals(assertOk(await update("deals", body, keyed("dry", prefer)))["updated"], 1);
    }
    assertEquals(await kept(), before);
    assertEquals(assertOk(await single("deals", body, keyed("dry")))["updated"], 1);
    assertOk(await single("deals", body, keyed("dry", prefer)));
  });

  it("keeps the keys of each token apart, of one tenant as well [IK11]", async () => {
    const token = await service().issue({ tenant: "1" });
    const body = { filters: { fid: 9 }, fields: { note: "mine" } };
    assertEquals(assertOk(await single("deals", body, keyed("tokens")))["updated"], 1);
    const other = await single("deals", body, { ...keyed("tokens"), token });
    assertEquals([assertOk(other)["updated"], isReplayed(other)], [0, false]);
  });

  it("treats a key as new after its retention, deleted or not [IK12]", async () => {
    const body = { filters: { fid: 10, note: "before" }, fields: { note: "after" } };
    await run("update deals set note = 'before' where fid = 10");
    assertOk(await single("deals", body, keyed("old")));
    await run("update rowgate.idempotency_keys set at = at - interval '23 hours'");
    assert(isReplayed(await single("deals", body, keyed("old"))));
    await run("update rowgate.idempotency_keys set at = at - interval '61 minutes'");
    assertMatched(await single("deals", body, keyed("old")), 404, 0);
    const other = { ...body, filters: { fid: 10 } };
    assertRejected(await single("deals", other, keyed("old")), 422);
    await run("update rowgate.idempotency_keys set at = at - interval '25 hours'");
    assertOk(await batch("deals", { updates: [other] }, keyed("old")));
  });

  it("rejects a key that is not a string of 1 to 255 characters before the body is read [IK1] [IK2]", async () => {
    const bad = [
      "a",
      "'a'",
      '""',
      '"a',
      'a"',
      '"a" "b"',
      '"a", "b"',
      '"a";p=1',
      '"\\a"',
      '"\\"',
      '"ä"',
      `"${"a".repeat(256)}"`,
      `"${"\\\\".repeat(256)}"`,
      "?1",
      "1",
      ":YQ==:",
      "",
    ];
    for (const header of bad) {
      const response = await single("deals", "{", { headers: { "idempotency-key": header } });
      assertMatch(assertRejected(response, 400), /^Idempotency-Key: /);
    }
    const good = [
      '"a"',
      ' "a b" ',
      `"${"a".repeat(255)}"`,
      `"${'\\"'.repeat(255)}"`,
      '"\\\\\\""',
      '"!#~"',
    ];
    for (const header of good) {
      const body = { filters: { fid: 11 }, fields: { note: "x" } };
      assertOk(await single("deals", body, { headers: { "idempotency-key": header } }));
    }
  });

  it("stores no text of a client [IK21]", async () => {
    const note = "SECRET";
    assertOk(await single("deals", { filters: { fid: 15 }, fields: { note } }, keyed(note)));
    const [stored] = await run(
      "select string_agg(k::text, ' ') as text from rowgate.idempotency_keys k",
    );
    const text = String(stored!["text"]);
    assert(text.length > 0 && !text.includes(note) && !text.includes("534543524554"), text);
  });

  it("ignores a key on a request that only reads [IK3]", async () => {
    assertOk(await query("deals", { per_page: 1 }, { headers: { "idempotency-key": "no" } }));
  });

  if (kind === "real") {
    it("rejects a key where answers cannot be kept, and still updates without a key [IK17]", async () => {
      const body = { filters: { fid: 16 }, fields: { note: "unkept" } };
      const table = "rowgate.idempotency_keys";
      const cases = [
        [`revoke insert on ${table} from rowgate_app`, `grant insert on ${table} to rowgate_app`],
        [
          `alter table ${table} rename to other`,
          `alter table rowgate.other rename to idempotency_keys`,
        ],
      ];
      for (const [without, again] of cases) {
        await run(without!);
        for (
          const send of [
            () => single("deals", body, keyed("unkept")),
            () => single("deals", { ...body, filters: { external_no: 16 } }, keyed("unkept")),
            () => bulk("deals", body, keyed("unkept")),
            () => batch("deals", { updates: [body] }, keyed("unkept")),
          ]
        ) {
          const error = assertRejected(await send(), 400, "nothing was changed");
          assertMatch(error, /^Idempotency-Key: answers cannot be kept/);
        }
        assertEquals(await noteOf(16) === "unkept", false);
        await run(again!);
      }
      assertOk(await single("deals", body));
      assertOk(await single("deals", body, keyed("unkept")));
    });

    it("responds with 409 while the first request runs, and with its answer afterwards [IK9]", async () => {
      const body = { filters: { fid: 12 }, fields: { note: "slow" } };
      const { admin } = service().database;
      const held = await admin.reserve();
      try {
        await held`begin`;
        await held`select from deals where fid = 12 for update`;
        const first = single("deals", body, keyed("slow"));
        await waitUntil(async () =>
          (await run("select from pg_locks where locktype = 'advisory' and classid = 1919907687"))
            .length > 0
        );
        for (const update of [single, bulk]) {
          const response = await update("deals", body, keyed("slow"));
          assertRejected(response, 409, "still running");
          assertEquals(response.headers.get("retry-after"), "1");
        }
        assertRejected(await batch("deals", { updates: [body] }, keyed("slow")), 409);
        await held`commit`;
        assertOk(await first);
      } finally {
        held.release();
      }
      assert(isReplayed(await single("deals", body, keyed("slow"))));
    });
  }

  it("keeps the updates of a table with rules [IK15]", async () => {
    await run(
      `create table ruled (id int4 primary key, tenant_id int4 not null, a text, log int4 not null default 0);
        insert into ruled values (1, 1, 'one'), (2, 1, 'two');
        create rule ruled_also as on update to ruled where old.id < 0 do also nothing;
        grant select, update on ruled to rowgate_app`,
    );
    await waitUntil(async () => (await query("ruled")).status === 200);
    const body = { filters: { id: 1 }, fields: { a: "x" } };
    for (const [key, update] of [["ruled", single], ["ruled bulk", bulk]] as const) {
      const again = { ...body, fields: { a: key } };
      assertEquals(
        assertOk(await sendTwice(() => update("ruled", again, keyed(key))))["updated"],
        1,
      );
    }
    const none = { filters: { id: 9 }, fields: { a: "x" } };
    assertMatched(await sendTwice(() => single("ruled", none, keyed("ruled none"))), 404, 0);
    const updates = [body, { filters: { tenant_id: 1 }, fields: { a: "x" } }];
    const several = await sendTwice(() => batch("ruled", { updates }, keyed("ruled batch")));
    assertMatched(several, 409, 2);
    assertEquals(await run("select a from ruled where id = 1"), [{ a: "ruled bulk" }]);
  });
});

describeService(
  "Idempotency keys that are used at once",
  ({ single, query, run, service }) => {
    it("runs one of 16 concurrent requests, and answers the others with its answer or 409 with Retry-After [IK9] [IK18]", async () => {
      await run(
        `create table if not exists taken (id int4 primary key, tenant_id int4 not null, n int4 not null, times int4 not null default 0);
      insert into taken select i, 1, 0 from generate_series(1, 40) i;
      create or replace function count_times() returns trigger language plpgsql as
        'begin new.times := old.times + 1; return new; end';
      create trigger taken_times before update on taken for each row execute function count_times();
      grant select, update on taken to rowgate_app`,
      );
      await waitUntil(async () => (await query("taken")).status === 200);
      for (let id = 1; id <= 20; id++) {
        const body = {
          filters: id % 2 === 0 ? { id, n: 0 } : { id, n: 0, times: 0 },
          fields: { n: id },
        };
        const send = async () => {
          for (;;) {
            const response = await single("taken", body, keyed(`at once ${id}`));
            if (response.status !== 409) return response;
            assertRejected(response, 409, "still running");
            assertEquals(response.headers.get("retry-after"), "1");
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        };
        const responses = await Promise.all(Array.from({ length: 16 }, send));
        for (const response of responses) assertEquals(assertOk(response)["updated"], 1);
        assertEquals(responses.filter((response) => !isReplayed(response)).length, 1);
      }
      assertEquals(await run("select distinct times from taken where id <= 20"), [{ times: 1 }]);
    });

    it("repeats no answer to a token that may no longer update the table [IK16]", async () => {
      const changes = [
        [403, "scopes = '{query}'"],
        [404, "scopes = '{update}', tables = '{}'"],
        [401, "revoked_at = now()"],
      ] as const;
      await Promise.all(changes.map(async ([status, change]) => {
        const token = await service().issue({ tenant: "1", tables: ["deals"] });
        const body = { filters: { fid: status - 390 }, fields: { note: "narrowed" } };
        const send = () => single("deals", body, { ...keyed(`narrowed ${status}`), token });
        assertOk(await send());
        assert(isReplayed(await send()));
        await run(`update rowgate.tokens set ${change} where id = '${token.split("_")[1]}'`);
        await waitUntil(async () => (await send()).status === status);
      }));
    });
  },
);
