import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { IS_REMOTE } from "../support/service.ts";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService, type SendOptions } from "./describe_service.ts";

const keyed = (key: string, headers: Record<string, string> = {}): SendOptions => ({
  headers: { "idempotency-key": JSON.stringify(key), ...headers },
});
const isReplayed = ({ headers }: ReceivedResponse) => headers.has("idempotent-replayed");

describeSharedService("Attacks on idempotency keys", (conversation) => {
  const { kind, single, bulk, batch, run, service } = conversation;
  const mine = () => checksumTenant(service().database.admin, 1);
  const theirs = () => checksumTenant(service().database.admin, 2);
  const noteOf = async (fid: number) =>
    (await run(`select note from deals where fid = ${fid}`))[0]!["note"];
  const update = (fid: number, note: string) => ({ filters: { fid }, fields: { note } });

  it("never returns the response of another token for the same key [RP1] [RP2]", async () => {
    assertOk(await single("deals", update(1, "first"), keyed("guessed")));
    const others = await theirs();
    const ofTenant = { ...keyed("guessed"), token: await service().issue({ tenant: "1" }) };
    const same = await single("deals", update(1, "first"), ofTenant);
    assertEquals([assertOk(same)["updated"], isReplayed(same)], [0, false]);
    const ofOther = { ...keyed("guessed"), token: service().tokens.b };
    const foreign = await single("deals", update(1, "first"), ofOther);
    assertMatched(foreign, 404, 0);
    assert(!isReplayed(foreign));
    assertMatched(
      await single("deals", update(1, "other"), { ...ofOther, ...keyed("new") }),
      404,
      0,
    );
    assertEquals(await theirs(), others);
  });

  it("treats any text of a key as data, and stores none of it [RP3] [RP4]", async () => {
    const texts = [
      "'; drop table deals; --",
      String.raw`\x00`,
      "%",
      "$1",
      "{}",
      `"`.repeat(255),
      "\\".repeat(255),
      " ",
      service().tokens.a,
    ];
    for (const text of texts) {
      const body = update(2, `k${texts.indexOf(text)}`);
      assertOk(await single("deals", body, keyed(text)));
      assert(isReplayed(await single("deals", body, keyed(text))), text);
      const message = assertRejected(await single("deals", update(2, "x"), keyed(text)), 422);
      assert(message.length < 300 && !message.includes(service().tokens.a.slice(3)), message);
    }
    const [stored] = await run(
      "select string_agg(concat(k.*, encode(k.key, 'escape')), ' ') as text from rowgate.idempotency_keys k",
    );
    for (const text of ["drop table", service().tokens.a.slice(3)]) {
      assert(!String(stored!["text"]).includes(text), text);
    }
  });

  it("rejects an invalid key before it reads the body or asks the database, whatever its length [RP5]", async () => {
    const before = await mine();
    const long = ["x", `\\"`, `"`, "\\", " ", ","].map((part) => `"${part.repeat(7000)}`);
    for (const header of ["", '""', "key", "'key'", '"a", "b"', '"a"; b', '"é"', ...long]) {
      const headers = { "idempotency-key": header };
      for (const send of [single, bulk, batch]) {
        const response = await send("deals", undefined, { headers, raw: "{" });
        assertMatch(assertRejected(response, 400), /^Idempotency-Key: /);
      }
    }
    assertEquals(await mine(), before);
  });

  it("compares requests by their bytes, so that a different request with the key changes nothing [RP6] [RP7]", async () => {
    const raw = '{"filters":{"fid":3},"fields":{"note":"bytes"}}';
    const send = (text: string, headers = {}) =>
      single("deals", undefined, { ...keyed("bytes", headers), raw: text });
    assertOk(await send(raw));
    const before = await mine();
    const others = [
      ` ${raw}`,
      '{"fields":{"note":"bytes"},"filters":{"fid":3}}',
      raw.replace("bytes", "byte\\u0073"),
      raw.replace('"fid":3', '"fid":"3"'),
      raw.replace('"fid":3', '"fid":3.0'),
      raw.replace("3", "4"),
    ];
    for (const text of others) assertRejected(await send(text), 422);
    assertRejected(await send(raw, { prefer: "max-affected=1" }), 422);
    assertRejected(await bulk("deals", undefined, { ...keyed("bytes"), raw }), 422);
    assertRejected(
      await single(
        "order_lines",
        { filters: { order_no: 1 }, fields: { product: "x" } },
        keyed("bytes"),
      ),
      422,
    );
    assert(isReplayed(await send(raw, { "accept-encoding": "gzip", "x-request-id": "other" })));
    assertEquals(await mine(), before);
  });

  it("uses up no key for a rejected request or a dry run [RP8] [RP9]", async () => {
    const wrong = [
      single("deals", { filters: { fid: 5 }, fields: { nope: 1 } }, keyed("burnt")),
      single("deals", { filters: { fid: 5 }, fields: { status: "nope" } }, keyed("burnt")),
      single("nowhere", update(5, "x"), keyed("burnt")),
      single("frozen", { filters: { id: 2 }, fields: { name: "x" } }, keyed("burnt")),
      bulk("deals", update(5, "x"), keyed("burnt", { prefer: "tx=rollback" })),
    ];
    for (const response of await Promise.all(wrong)) assert(!isReplayed(response));
    assertEquals(assertOk(await single("deals", update(5, "burnt"), keyed("burnt")))["updated"], 1);
    const dry = keyed("burnt", { prefer: "tx=rollback" });
    assertOk(await single("deals", update(5, "dry"), dry));
    assertEquals(await noteOf(5), "burnt");
  });

  it("keeps the rejection of a batch even if its cause is fixed afterwards [RP10]", async () => {
    const updates = [update(6, "batch"), { filters: { title: "missing" }, fields: { note: "x" } }];
    assertMatched(await batch("deals", { updates }, keyed("batch")), 404, 0);
    await run("update deals set title = 'missing' where fid = 7");
    const again = await batch("deals", { updates }, keyed("batch"));
    assertMatch(assertMatched(again, 404, 0), /^updates\[1\]: /);
    assert(await noteOf(6) !== "batch");
    assertOk(await batch("deals", { updates }, keyed("another batch")));
    assertEquals(await noteOf(6), "batch");
  });

  it("runs exactly one of many requests that race with one key [RP11] [RP12]", async () => {
    for (let round = 0; round < 10; round++) {
      await run("update deals set note = 'none' where fid = 8");
      const race = Array.from({ length: 16 }, (_, n) => {
        const note = `r${round} ${n % 4}`;
        const body = round % 2 === 0
          ? { filters: { fid: 8, note: "none" }, fields: { note } }
          : { filters: { external_no: 8, note: "none" }, fields: { note } };
        const send = n % 8 < 6 ? single : bulk;
        return send("deals", body, keyed(`race ${round}`)).then((response) => ({ response, note }));
      });
      const answers = await Promise.all(race);
      const won = answers.filter(({ response }) =>
        response.status === 200 && !isReplayed(response)
      );
      assertEquals(won.length, 1, answers.map(({ response }) => response.text).join("\n"));
      assertEquals(await noteOf(8), won[0]!.note);
      for (const { response } of answers) {
        if (response.status === 200) assertEquals(response.text, won[0]!.response.text);
        else assert([409, 422].includes(response.status), response.text);
        if (response.status === 409) assertEquals(response.headers.get("retry-after"), "1");
      }
    }
  });

  it("lets requests with different keys change one row at once, each exactly once [RP13]", async () => {
    await run("update deals set note = 'none' where fid = 9");
    const notes = Array.from({ length: 40 }, (_, n) => `m${n}`);
    const send = async (note: string) => {
      for (;;) {
        const response = await single("deals", update(9, note), keyed(`many ${note}`));
        if (response.status !== 503) return response;
      }
    };
    const responses = await Promise.all(notes.map(send));
    for (const response of responses) assertEquals(assertOk(response)["updated"], 1);
    const [row] = await run("select count(*)::int4 as n from rowgate.idempotency_keys");
    assert(Number(row!["n"]) >= 40);
    assert(notes.includes(String(await noteOf(9))));
  });

  it("treats an expired answer as absent, and deletes it [RP14]", async () => {
    assertOk(await single("deals", update(10, "old"), keyed("old")));
    await run("update rowgate.idempotency_keys set at = '-infinity'");
    const fresh = await Promise.all(
      Array.from({ length: 8 }, () => bulk("deals", update(10, "new"), keyed("old"))),
    );
    const done = fresh.filter((response) => response.status === 200 && !isReplayed(response));
    assertEquals(done.length, 1, fresh.map(({ text }) => text).join("\n"));
    assertEquals(await noteOf(10), "new");
  });

  if (kind === "real") {
    it("takes no lock that other transactions wait for, and waits for none of theirs [RP15]", async () => {
      const { admin } = service().database;
      const held = await admin.reserve();
      try {
        await held`select pg_advisory_lock((1919907687::int8 << 32)
          | (hashtext(concat(id, ' ', 'locks'))::int8 & 4294967295)) from rowgate.tokens`;
        assertOk(await single("deals", update(11, "locks"), keyed("locks")));
        await held`select pg_advisory_unlock_all()`;
      } finally {
        held.release();
      }
    });

    it("makes no other key, token or plain update wait for a key that is in use [RP16]", async () => {
      const { admin } = service().database;
      const token = await service().issue({ tenant: "1" });
      const held = await admin.reserve();
      try {
        await held`begin`;
        await held`select from deals where fid = 12 for update`;
        const first = single("deals", update(12, "held"), keyed("held"));
        await waitUntil(async () =>
          (await run("select from pg_locks where locktype = 'advisory' and classid = 1919907687"))
            .length > 0
        );
        assertOk(await single("deals", update(13, "free"), { ...keyed("held"), token }));
        assertOk(await single("deals", update(14, "free"), keyed("free")));
        assertOk(await single("deals", update(15, "free")));
        assertRejected(await single("deals", update(16, "x"), keyed("held")), 409, "still running");
        await held`commit`;
        assertOk(await first);
      } finally {
        held.release();
      }
      assertRejected(await single("deals", update(16, "x"), keyed("held")), 422);
    });

    if (!IS_REMOTE) {
      it("undoes the update of a disconnected client, or returns its answer later [RP17]", async () => {
        const held = await service().database.admin.reserve();
        const body = update(17, "gone");
        try {
          await held`begin`;
          await held`select from deals where fid = 17 for update`;
          const controller = new AbortController();
          const gone = service().app(
            new Request("http://127.0.0.1/integration/tables/deals/records/single", {
              method: "PATCH",
              headers: {
                "authorization": `Bearer ${service().tokens.a}`,
                "content-type": "application/json",
                "idempotency-key": '"gone"',
              },
              body: JSON.stringify(body),
              signal: controller.signal,
            }),
          );
          await waitUntil(async () =>
            (await run("select from pg_locks where locktype = 'advisory' and classid = 1919907687"))
              .length > 0
          );
          controller.abort();
          await (await gone).body?.cancel();
          await held`commit`;
        } finally {
          held.release();
        }
        await waitUntil(async () => (await single("deals", body, keyed("gone"))).status === 200);
        assert(isReplayed(await single("deals", body, keyed("gone"))));
        assertEquals(await noteOf(17), "gone");
      });
    }
  }
}, { writes: "rows" });
