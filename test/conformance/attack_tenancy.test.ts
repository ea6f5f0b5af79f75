import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { readFile } from "node:fs/promises";
import { it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
} from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";

const OTHER = 1003;
const MISSING = 999_999;

/** All that can be compared of two responses. */
function contents({ status, headers, text }: ReceivedResponse): unknown {
  const kept = [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
  return { status, headers: kept, text };
}

describeService("attacks on tenancy", ({ query, single, bulk, get, run, service }) => {
  it("returns only own rows, and counts only own rows, when nothing is filtered [TE1]", async () => {
    const { a, b } = service().tokens;
    for (const [token, tenant] of [[a, 1], [b, 2]] as const) {
      const response = await query("deals", { per_page: 200 }, { token });
      assertEquals(response.body["total"], 60);
      assertEquals(
        new Set(recordsOf(response).map((record) => record["tenant_id"])),
        new Set([tenant]),
      );
      assertEquals(response.text.includes("CANARY"), tenant === 2);
    }
  });

  it("finds nothing by the key of another tenant's row [TE2]", async () => {
    const other = await query("deals", {
      filters: { and: [{ field: "fid", op: "eq", value: OTHER }] },
    });
    assertEquals([recordsOf(other), other.body["total"]], [[], 0]);
    const missing = await query("deals", {
      filters: { and: [{ field: "fid", op: "eq", value: MISSING }] },
    });
    assertEquals(contents(other), contents(missing));
  });

  it("returns only own rows for an or that is always true [TE3]", async () => {
    const always = [{ field: "fid", op: "is_not_null" }, { field: "fid", op: "is_null" }, {
      and: [],
    }];
    const response = await query("deals", { filters: { or: always }, per_page: 200 });
    assertEquals(recordsOf(response).length, 60);
    assertEquals(response.body["total"], 60);
    assert(!response.text.includes("CANARY"));
  });

  it("finds nothing for another tenant's value in the tenant column [TE4]", async () => {
    for (
      const condition of [{ op: "eq", value: 2 }, { op: "in", value: [2, 3] }, {
        op: "gt",
        value: 1,
      }]
    ) {
      const response = await query("deals", {
        filters: { or: [{ field: "tenant_id", ...condition }] },
      });
      assertEquals([recordsOf(response), response.body["total"]], [[], 0]);
    }
  });

  it("returns only own rows for neq and not_in on the tenant column [TE5]", async () => {
    for (
      const [condition, total] of [
        [{ op: "neq", value: 1 }, 0],
        [{ op: "not_in", value: [1] }, 0],
        [{ op: "neq", value: 3 }, 60],
        [{ op: "not_in", value: [2, 3] }, 60],
      ] as const
    ) {
      const filters = { and: [{ field: "tenant_id", ...condition }] };
      const response = await query("deals", { filters, per_page: 200 });
      assertEquals([recordsOf(response).length, response.body["total"]], [total, total]);
      assert(!response.text.includes("CANARY"));
    }
  });

  it("answers a single update at another tenant's key as if no row had it [TE6]", async () => {
    const fields = { title: "taken over" };
    const other = await single("deals", { filters: { fid: OTHER }, fields });
    assertMatched(other, 404, 0);
    assertEquals(
      contents(other),
      contents(await single("deals", { filters: { fid: MISSING }, fields })),
    );
    const both = await bulk("deals", { filters: { fid: OTHER }, fields });
    assertEquals(assertOk(both)["updated"], 0);
    assertEquals(
      contents(both),
      contents(await bulk("deals", { filters: { fid: MISSING }, fields })),
    );
  });

  it("counts only own rows before a single update [TE7]", async () => {
    await run("update deals set note = 'te7' where fid in (7, 1001, 1002, 1003, 1004, 1005)");
    const filters = { note: "te7" };
    assertEquals(
      assertOk(await single("deals", { filters, fields: { title: "mine" } }))["matched"],
      1,
    );
    const rows = await run("select fid::int4 from deals where title = 'mine'");
    assertEquals(rows.map(({ fid }) => fid), [7]);
  });

  it("updates only own rows in bulk [TE8]", async () => {
    const counts = "select count(*)::int4 n from guests where name = 'renamed' and tenant_id = ";
    const before = await run("select id, name from guests where tenant_id = 2 order by id");
    const filters = { name: "the same" };
    await run("update guests set name = 'the same' where id in (2, 3, 1001)");
    assertEquals(
      assertOk(await bulk("guests", { filters, fields: { name: "renamed" } }))["updated"],
      2,
    );
    assertEquals((await run(`${counts} 1`))[0]!["n"], 2);
    assertEquals((await run(`${counts} 2`))[0]!["n"], 0);
    assertEquals((await run("select name from guests where id = 1001"))[0]!["name"], "the same");
    await run(`update guests set name = '${before[0]!["name"]}' where id = 1001`);
  });

  it("rejects the tenant column in fields, and changes nothing [TE9]", async () => {
    const row = () => run("select xmin::text, t::text from deals t where fid = 9");
    const before = await row();
    for (const update of [single, bulk]) {
      for (const tenant of [2, 1, "2", null]) {
        const fields = { title: "moved", tenant_id: tenant };
        assertRejectedAt(
          await update("deals", { filters: { fid: 9 }, fields }),
          "fields.tenant_id",
        );
      }
    }
    assertEquals(await row(), before);
  });

  it("knows the tenant column only by its exact name [TE10]", async () => {
    for (
      const name of [
        "Tenant_Id",
        "TENANT_ID",
        '"tenant_id"',
        " tenant_id",
        "tenant_id ",
        "t.tenant_id",
      ]
    ) {
      const condition = { field: name, op: "eq", value: 2 };
      assertRejectedAt(
        await query("deals", { filters: { and: [condition] } }),
        "filters.and[0].field",
      );
      assertRejectedAt(await query("deals", { select: [name] }), "select[0]");
      assertRejectedAt(await query("deals", { sort: [{ field: name }] }), "sort[0].field");
      for (const update of [single, bulk]) {
        assertRejected(
          await update("deals", { filters: { [name]: 2 }, fields: { title: "x" } }),
          400,
        );
        assertRejected(await update("deals", { filters: { fid: 1 }, fields: { [name]: 2 } }), 400);
      }
    }
  });

  it("rejects a reference to another tenant's row where the key holds the tenant [TE11]", async () => {
    const before = await run("select guest_id from bookings where id = 4");
    for (const update of [single, bulk]) {
      const response = await update("bookings", { filters: { id: 4 }, fields: { guest_id: 1001 } });
      const missing = await update("bookings", { filters: { id: 4 }, fields: { guest_id: 4711 } });
      assertRejected(response, 409);
      assertEquals(contents(response), contents(missing));
    }
    assertEquals(await run("select guest_id from bookings where id = 4"), before);
  });

  it("takes a value that only another tenant has, where unique is meant within a tenant [TE12]", async () => {
    await run("update bookings set seat = 77 where id = 1001");
    const fields = { seat: 77 };
    assertEquals(assertOk(await single("bookings", { filters: { id: 1 }, fields }))["updated"], 1);
    await run("update bookings set seat = 1 where id in (1, 1001)");
    const global = await single("bookings", {
      filters: { id: 1 },
      fields: { reference: "REF-3-CANARY" },
    });
    const error = assertRejected(global, 409);
    assertMatch(error, /^fields\.reference: /);
    assert(!/REF|constraint|index/.test(error), error);
  });

  it("reports a conflict in the same text, whichever tenant the other row belongs to [TE13]", async () => {
    const textsOf = async (values: readonly Record<string, unknown>[]) => {
      const texts = new Set<string>();
      for (const fields of values) {
        for (const update of [single, bulk]) {
          const response = await update("bookings", { filters: { id: 6 }, fields });
          texts.add(JSON.stringify(contents(response)));
        }
      }
      return [...texts];
    };
    const unique = await textsOf([{ reference: "REF-5" }, { reference: "REF-5-CANARY" }]);
    const foreign = await textsOf([{ guest_id: 1001 }, { guest_id: 4711 }]);
    const others = await textsOf([{ seat: 5 }]);
    assertEquals([unique.length, foreign.length, others.length], [1, 1, 1]);
    for (const text of [...unique, ...foreign, ...others]) {
      assertStringIncludes(text, '"status":409');
    }
  });

  it("exposes no view that the policy does not name [TE14]", async () => {
    const listed = (await get("/integration/tables")).text;
    for (const view of ["open_deals", "deals_per_status", "deal_totals"]) {
      assert(!listed.includes(view), view);
      const known = contents(await query(view));
      assertEquals((known as { status: number }).status, 404);
      const unknown = await query(view.replace(/.$/, "_"));
      assertEquals(
        JSON.stringify(known).replaceAll(view, "?"),
        JSON.stringify(contents(unknown)).replaceAll(view.replace(/.$/, "_"), "?"),
      );
    }
  });

  it("exposes a table without tenant column only as shared, to be read [TE15]", async () => {
    for (const operation of [query, single, bulk]) {
      const body = operation === query ? {} : { filters: { key: "a" }, fields: { value: "b" } };
      assertRejected(await operation("internal_settings", body), 404);
    }
    assertEquals(recordsOf(await query("countries")).length, 5);
    for (const update of [single, bulk]) {
      const response = await update("countries", {
        filters: { code: "DE" },
        fields: { name: "x" },
      });
      assert(response.status === 400 || response.status === 403, response.text);
    }
    assertEquals(
      (await run("select name from countries where code = 'DE'"))[0]!["name"],
      "Germany",
    );
  });

  it("cannot restrict a trigger that runs with its owner's rights, as the operators' page says [TE22]", async () => {
    await run(`
      create table overheard (id int4 primary key, tenant_id int4 not null, said text);
      insert into overheard values (1001, 2, 'nothing');
      create function overhear() returns trigger language plpgsql security definer as $$
      begin
        update public.overheard set said = new.body;
        return new;
      end $$;
      create trigger overhear after update on notes for each row execute function overhear()`);
    const response = await single("notes", { filters: { id: 3 }, fields: { body: "heard" } });
    assertEquals(assertOk(response)["updated"], 1);
    // What the trigger wrote is not laid to the service.
    service().database.rows.afterWrite();
    assertEquals((await run("select said from overheard"))[0]!["said"], "heard");
    await run("drop trigger overhear on notes; drop table overheard");
    const reported = await readFile(new URL("../../docs/operators.md", import.meta.url), "utf8");
    assertStringIncludes(reported, "`SECURITY DEFINER` function may write any tenant's rows");
  });

  it("writes the right row of two that have the same ctid in two partitions [TE16]", async () => {
    const [pair] = await run(`
      select a.id::text one, b.id::text other from measurements a join measurements b on a.ctid = b.ctid
      where a.tableoid < b.tableoid and a.tenant_id = 1 and b.tenant_id = 1 order by a.id limit 1`);
    const read = () =>
      run(
        `select tableoid::int8::text, ctid::text, t::text from measurements t where id = ${
          pair!["other"]
        }`,
      );
    const before = await read();
    const filters = { id: pair!["one"] };
    const response = await single("measurements", { filters, fields: { sensor: "moved" } });
    assertEquals([assertOk(response)["matched"], response.body["updated"]], [1, 1]);
    assertEquals(await read(), before);
    const moved = await run("select id::text from measurements where sensor = 'moved'");
    assertEquals(moved.map(({ id }) => id), [pair!["one"]]);
  });
});

describeSharedService("attacks on tenancy, without a setting", ({ kind, query, single, bulk }) => {
  // The embedded Postgres has one role, which is above row level security.
  if (kind === "embedded") return;

  it("returns no row under row level security when the setting is missing [TE17]", async () => {
    const filters = { and: [{ field: "id", op: "gt", value: 0 }] };
    // Such a table is not served: no answer, and no feed, takes hidden rows for rows that are gone.
    const responses = [
      await query("guarded", { filters }),
      await single("guarded", { filters: { id: 1 }, fields: { name: "x" } }),
      await bulk("guarded", { filters: { name: "Guarded 1" }, fields: { name: "x" } }),
    ];
    for (const { status, body } of responses) {
      assertEquals([status, body["error"]], [404, 'table: "guarded" was not found']);
    }
  });
});

describeService("attacks on tenancy, a setting that says another tenant", ({ kind, ...ask }) => {
  if (kind === "embedded") return;

  it("returns no row when row level security and the token disagree [TE17]", async () => {
    await ask.run(`
      alter policy guarded_by_tenant on guarded
      using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::int4 + 1)`);
    const { b } = ask.service().tokens;
    for (const token of [undefined, b]) {
      const options = token === undefined ? {} : { token };
      assertEquals((await ask.query("guarded", {}, options)).body["total"], 0);
      const body = { filters: { name: "Guarded 1" }, fields: { name: "x" } };
      assertEquals((await ask.bulk("guarded", body, options)).body["updated"], 0);
    }
  });

  it("returns to two tenants that share one connection only their own rows [TE18]", async () => {
    await ask.run(`
      alter policy guarded_by_tenant on guarded
      using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::int4)`);
    const { a, b } = ask.service().tokens;
    const body = { select: ["id", "name"] };
    const responses: ReceivedResponse[] = [];
    while (responses.length < 400) {
      const tokens = Array.from({ length: 20 }, (_, n) => n % 2 ? a : b);
      responses.push(
        ...await Promise.all(tokens.map((token) => ask.query("guarded", body, { token }))),
      );
    }
    for (const [n, response] of responses.entries()) {
      assertEquals(recordsOf(response).length, 4);
      assertEquals(response.text.includes("CANARY"), n % 2 === 0);
    }
    assertNotEquals(responses[0]!.text, responses[1]!.text);
  });
}, { environment: { ROWGATE_TENANT_SETTING: "app.tenant_id", ROWGATE_POOL_SIZE: "1" } });
