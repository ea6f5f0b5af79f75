import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { type Conversation, describeService } from "./describe_service.ts";

const ROLLBACK = { headers: { prefer: "tx=rollback" } };

/** Opens the audit of a service as its rows are since the last look, oldest first. */
function watchAudit({ run }: Pick<Conversation, "run">) {
  let seen = 0;
  return async function read(): Promise<Record<string, unknown>[]> {
    const rows = await run(`select request_id, token_id, tenant, schema_name, table_name, operation,
        filter_fields::text, fields::text, matched::int4, updated::int4,
        at between now() - interval '1 minute' and now() as timely, number::int4
      from rowgate.audit where number > ${seen} order by number`);
    seen = Number(rows.at(-1)?.["number"] ?? seen);
    return rows.map(({ number: _, ...row }) => row);
  };
}

/** What of a row reports how much was done. */
function countsOf(rows: readonly Record<string, unknown>[]): readonly string[] {
  return rows.map((row) => `${row["table_name"]} ${row["matched"]} ${row["updated"]}`);
}

const ENVIRONMENTS: Record<string, Record<string, string>> = {
  "": {},
  ", tenant in a setting": { ROWGATE_TENANT_SETTING: "app.tenant_id" },
  ", behind a pooler": { ROWGATE_PREPARE: "off" },
};

for (const [how, environment] of Object.entries(ENVIRONMENTS)) {
  describeService(`Running, the audit${how}`, (conversation) => {
    const { service, single, bulk, batch, query, get, run } = conversation;
    const audit = watchAudit(conversation);

    it("gives a request whose id holds a token another id [AU19]", async () => {
      const { a } = service().tokens;
      for (const [n, id] of [a, `x${a}`, a.slice(0, 40), "my.rg_123"].entries()) {
        const response = await single("deals", {
          filters: { fid: 3 },
          fields: { title: `hush ${n}` },
        }, {
          headers: { "x-request-id": id },
        });
        const given = response.headers.get("x-request-id")!;
        assert(!given.includes("rg_"), given);
        const [row] = await audit();
        assertEquals(row!["request_id"], given);
      }
      const kept = await get("/integration/tables", { headers: { "x-request-id": "org_123.a_b" } });
      assertEquals(kept.headers.get("x-request-id"), "org_123.a_b");
      const rejected = await single(`x${a}`, { filters: { [a]: a }, fields: { [a]: a } });
      const fields = await single("deals", { filters: { [a]: a }, fields: { [`x-${a}`]: a } });
      for (const { text } of [rejected, fields]) assert(!text.includes(a.slice(15, 30)), text);
    });

    it("records who did what and when, and no value, of a single update [R23]", async () => {
      const filters = { fid: 3, status: "on hold", note: null };
      const response = await single(
        "deals",
        { filters, fields: { title: "hush", amount: 98765432.5 } },
        {
          headers: { "x-request-id": "my-own.id" },
        },
      );
      assertEquals(assertOk(response)["updated"], 1);
      const rows = await audit();
      assertEquals(rows, [{
        request_id: "my-own.id",
        token_id: service().tokens.a.slice(3, 14),
        tenant: "1",
        schema_name: "public",
        table_name: "deals",
        operation: "update_single",
        filter_fields: "{fid,status,note}",
        fields: "{title,amount}",
        matched: 1,
        updated: 1,
        timely: true,
      }]);
      const [whole] = await run("select string_agg(a::text, ' ') as text from rowgate.audit a");
      for (const value of ["hush", "98765432", "on hold"]) {
        assert(!String(whole!["text"]).includes(value), value);
      }
    });

    it("counts what matched and what was changed of a bulk update [R23]", async () => {
      const fields = { name: "alike" };
      assertOk(await bulk("guests", { filters: { id: 1 }, fields }));
      assertOk(await bulk("guests", { filters: { tenant_id: 1 }, fields }));
      const headers = { prefer: "max-affected=9" };
      assertOk(
        await bulk("guests", { filters: { tenant_id: 1 }, fields: { name: "b" } }, { headers }),
      );
      const rows = await audit();
      assertEquals(countsOf(rows), ["guests 1 1", "guests 5 4", "guests 5 5"]);
      assertEquals(rows.map((row) => row["operation"]), Array(3).fill("update_bulk"));
      assertEquals(rows[1]!["filter_fields"], "{tenant_id}");
    });

    it("has a row for each update of a batch, and none of one that is undone [U60] [R23]", async () => {
      const update = (id: number, name: string) => ({ filters: { id }, fields: { name } });
      const [first] = await run("select id from guests where tenant_id = 1 order by id limit 1");
      const id = Number(first!["id"]);
      assertOk(await batch("guests", { updates: [update(id, "once"), update(id, "twice")] }));
      const rows = await audit();
      assertEquals(countsOf(rows), ["guests 1 1", "guests 1 1"]);
      assertEquals(rows.map((row) => row["operation"]), Array(2).fill("update_batch"));
      assertMatched(await batch("guests", { updates: [update(id, "x"), update(-1, "x")] }), 404, 0);
      assertEquals(await audit(), []);
      assertOk(await batch("guests", { updates: [update(id, "b")] }));
      assertEquals((await audit()).length, 1);
    });

    it("has a row for each 200, also when nothing had to change [R23]", async () => {
      const same = { filters: { id: 1 }, fields: { name: "b" } };
      assertEquals(assertOk(await single("guests", same))["updated"], 0);
      assertEquals(assertOk(await bulk("guests", same))["updated"], 0);
      const none = { filters: { id: 99 }, fields: { name: "c" } };
      assertEquals(assertOk(await bulk("guests", none))["updated"], 0);
      const headers = { prefer: "max-affected=0" };
      assertEquals(assertOk(await bulk("guests", none, { headers }))["updated"], 0);
      assertEquals(countsOf(await audit()), [
        "guests 1 0",
        "guests 1 0",
        "guests 0 0",
        "guests 0 0",
      ]);
    });

    it("has no row for what was rejected, or only read [R23]", async () => {
      const fields = { name: "refused" };
      assertMatched(await single("guests", { filters: { id: 99 }, fields }), 404, 0);
      assertMatched(await single("guests", { filters: { tenant_id: 1 }, fields }), 409, 5);
      for (const max of [0, 4]) {
        const headers = { prefer: `max-affected=${max}` };
        assertRejected(
          await bulk("guests", { filters: { tenant_id: 1 }, fields }, { headers }),
          409,
        );
      }
      const headers = { prefer: "max-affected=0" };
      assertRejected(await single("guests", { filters: { id: 1 }, fields }, { headers }), 409);
      assertRejected(await single("frozen", { filters: { id: 1 }, fields }), 409, "refused");
      assertRejected(await bulk("deals", { filters: { fid: 1 }, fields: { external_no: 2 } }), 409);
      assertRejected(await single("deals", { filters: { fid: 1 }, fields: { status: "x" } }), 400);
      assertRejected(
        await single("deals", { filters: { fid: 1 }, fields: { created_on: "x" } }),
        400,
      );
      assertRejected(
        await bulk("user_passwords", { filters: { id: 1 }, fields: { login: "x" } }),
        403,
      );
      assertOk(await query("guests"));
      assertEquals(await audit(), []);
    });

    it("has no row for what was rolled back [R23] [U45]", async () => {
      const body = { filters: { id: 1 }, fields: { name: "undone" } };
      assertEquals(assertOk(await single("guests", body, ROLLBACK))["updated"], 1);
      assertEquals(assertOk(await bulk("guests", body, ROLLBACK))["updated"], 1);
      assertEquals(await audit(), []);
    });

    it("has a row for tables without pinned versions, and with rules [R23]", async () => {
      await run(`create table audited_rule (id int4 primary key, tenant_id int4 not null, a text);
        create table audited_loose (id int4 primary key, tenant_id int4 not null, a text, b text);
        insert into audited_rule select n, 1 + n / 9, 'old' from generate_series(1, 9) n;
        insert into audited_loose select * from audited_rule;
        create rule audited_keep as on update to audited_rule where old.id > 4 do instead nothing;
        grant select, update (a) on audited_rule to rowgate_app;
        grant select (id, tenant_id, a), update (a) on audited_loose to rowgate_app;
        notify rowgate_catalogue`);
      for (let tries = 0; tries < 50 && (await query("audited_loose")).status !== 200; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      for (const table of ["audited_rule", "audited_loose"]) {
        const at = (id: number, a = "new") => ({ filters: { id }, fields: { a } });
        assertOk(await single(table, at(1)));
        assertOk(await single(table, at(1)));
        assertOk(await single(table, at(2), ROLLBACK));
        assertMatched(await single(table, at(9)), 404, 0);
        const all = { filters: { tenant_id: 1 }, fields: { a: "all" } };
        assertMatched(await single(table, all), 409, 8);
        assertRejected(await bulk(table, all, { headers: { prefer: "max-affected=7" } }), 409);
        assertOk(await bulk(table, all, ROLLBACK));
        assertOk(await bulk(table, all));
        if (table === "audited_rule") assertRejected(await single(table, at(5)), 409, "refused");
      }
      assertEquals(countsOf(await audit()), [
        "audited_rule 1 1",
        "audited_rule 1 0",
        "audited_rule 8 4",
        "audited_loose 1 1",
        "audited_loose 1 0",
        "audited_loose 8 8",
      ]);
    });

    it("has as many rows as updates were acknowledged, each with its own request [R23]", async () => {
      await audit();
      const sent = await Promise.all(Array.from({ length: 80 }, async (_, n) => {
        const headers = {
          "x-request-id": `run-${n}`,
          ...(n % 5 === 0 ? ROLLBACK.headers : {}),
        };
        const body = { filters: { id: 1 + n % 7 }, fields: { name: `name ${n % 3}` } };
        const response = await (n % 2 === 0 ? single : bulk)("guests", body, { headers });
        return { n, response };
      }));
      const acknowledged = sent.filter(({ n, response }) => response.status === 200 && n % 5 !== 0);
      assert(acknowledged.length > 40 && acknowledged.length < 64, String(acknowledged.length));
      const rows = await audit();
      assertEquals(
        rows.map((row) => `${row["request_id"]} ${row["updated"]}`).sort(),
        acknowledged.map(({ n, response }) => `run-${n} ${response.body["updated"]}`).sort(),
      );
    });

    it("cannot be read or written by a tenant [R23] [T1]", async () => {
      const { tables } = assertOk(await get("/integration/tables"));
      const names = (tables as { name: string }[]).map(({ name }) => name);
      assertEquals(names.filter((name) => name.includes("audit")).sort(), [
        "audited_loose",
        "audited_rule",
      ]);
      assertRejected(await query("audit"), 404);
      assertRejected(await query("rowgate.audit"), 400);
      assertRejected(
        await bulk("audit", { filters: { tenant: "1" }, fields: { tenant: "2" } }),
        404,
      );
    });
    // On a busy machine 80 updates at once wait longer than usual for the one embedded session.
  }, { environment: { ROWGATE_AUDIT: "on", ROWGATE_POOL_WAIT_MS: "30000", ...environment } });
}
