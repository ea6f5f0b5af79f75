import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, type ChangesBody, enableFeeds } from "../support/feeds.ts";
import { readPages } from "../support/read_pages.ts";
import { IS_REMOTE } from "../support/service.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  valuesOf,
} from "./assert_response.ts";
import { describeService } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

const SCHEMA = `
create table tasks (id int4 primary key, tenant_id int4 not null, title text not null,
  state text not null default 'open', deleted_at timestamptz, rank int4);
insert into tasks select n + (t - 1) * 100, t, 'task ' || n || case t when 2 then ' CANARY' else '' end,
  case when n % 4 = 0 then 'draft' else 'open' end,
  case when n % 5 = 0 then timestamptz '2026-01-01Z' end, n
from generate_series(1, 2) t, generate_series(1, 20) n;
create view open_tasks as select id, tenant_id, title, rank, deleted_at from tasks
  where state = 'open' with check option;
create view counted_tasks as select tenant_id, count(*) as tasks from tasks group by tenant_id;
create view ranked_tasks with (security_barrier = true) as
  select id, tenant_id, title, rank, rank * 2 as doubled from tasks where rank < 100
  with local check option;
create view early_tasks as select id, tenant_id, rank from ranked_tasks where rank < 50;
create table currencies (code text primary key, name text);
insert into currencies values ('EUR', 'Euro'), ('USD', 'Dollar');
create view money as select code, name from currencies;
create materialized view money_kept as select code, name from currencies;
create table strange (id int4 primary key, tenant_id int4 not null, day date, note text);
grant select, update on tasks, open_tasks, ranked_tasks, early_tasks, counted_tasks, money, money_kept, strange to public;`;

const ONLY = {
  and: [
    { field: "deleted_at", op: "is_null" },
    { or: [{ field: "state", op: "neq", value: "draft" }, { field: "rank", op: "eq", value: 4 }] },
  ],
};
const POLICY = {
  tables: {
    tasks: { only: ONLY, hidden_columns: ["deleted_at"] },
    open_tasks: { expose: true, primary_key: ["id"], writable: true },
    ranked_tasks: { expose: true, primary_key: ["id"], writable: true },
    early_tasks: { expose: true, primary_key: ["id"], writable: true },
    counted_tasks: { expose: true, writable: true },
    money: {
      shared: true,
      expose: true,
      only: { and: [{ field: "code", op: "eq", value: "EUR" }] },
    },
    money_kept: { shared: true },
    strange: { only: { and: [{ field: "gone", op: "is_null" }] } },
  },
};
/** Those of 1 to 20 that are neither deleted nor drafts, but for number 4. */
const SEEN = [1, 2, 3, 4, 6, 7, 9, 11, 13, 14, 17, 18, 19];

describeService("Tables with a row filter", (conversation) => {
  const { kind, query, single, bulk, batch, get, run, service } = conversation;
  before(() => run(SCHEMA));

  it("show only the rows that match it, counted, paged and looked up [T64]", async () => {
    const sort = [{ field: "id" }];
    const response = await query("tasks", { sort });
    assertEquals(valuesOf(response, "id"), SEEN);
    assertEquals(response.body["total"], SEEN.length);
    const body = { sort: [{ field: "rank", direction: "desc" }], per_page: 4 };
    const rows = await readPages(service().send, { table: "tasks", body });
    assertEquals(rows.map(({ id }) => id), SEEN.toReversed());
    const found = await Promise.all(
      [1, 4, 5, 8, 101, 105].map((value) =>
        query("tasks", { filters: { and: [{ field: "id", op: "eq", value }] } })
      ),
    );
    assertEquals(found.map(({ body }) => body["total"]), [1, 1, 0, 0, 0, 0]);
    const any = { or: [{ field: "id", op: "gt", value: 0 }, { and: [] }] };
    assertEquals(assertOk(await query("tasks", { filters: any }))["total"], SEEN.length);
    const { body: b } = await query("tasks", {}, { token: service().tokens.b });
    assertEquals(b["total"], SEEN.length);
  });

  it("may filter by columns that are hidden from clients [T65] [T18]", async () => {
    const response = await query("tasks");
    assert(!response.text.includes("deleted_at"));
    const filters = { and: [{ field: "deleted_at", op: "is_null" }] };
    assertRejectedAt(await query("tasks", { filters }), "filters.and[0].field");
  });

  it("do not let other rows be updated, by key, by others, or all [T64] [U20]", async () => {
    for (const filters of [{ id: 5 }, { title: "task 8" }]) {
      assertMatched(await single("tasks", { filters, fields: { rank: 99 } }), 404, 0);
      assertEquals(
        assertOk(await bulk("tasks", { filters, fields: { rank: 99 } }))["updated"],
        0,
      );
      const updates = [{ filters, fields: { rank: 99 } }];
      assertMatched(await batch("tasks", { updates }), 404, 0);
    }
    await run("update tasks set title = 'same' where tenant_id = 1 and id in (14, 15, 16, 20)");
    const one = await single("tasks", { filters: { title: "same" }, fields: { rank: 14 } });
    assertEquals(assertOk(one)["matched"], 1);
    const all = await bulk("tasks", { filters: { title: "same" }, fields: { rank: 15 } });
    assertEquals(assertOk(all)["updated"], 1);
    await run("update tasks set rank = 14, title = 'task 14' where id = 14");
  });

  it("reject new values that would hide the row, at their paths, and write nothing [T66]", async () => {
    const fields = { title: "lost", state: "draft" };
    for (
      const response of [
        await single("tasks", { filters: { id: 1 }, fields }),
        await single("tasks", { filters: { title: "task 1" }, fields }),
        await single("tasks", { filters: { id: 1 }, fields }, {
          headers: { prefer: "tx=rollback" },
        }),
        // Of two rows that match, only one would be gone.
        await bulk("tasks", { filters: { state: "open" }, fields }),
        await single("tasks", { filters: { id: 4 }, fields: { rank: 5, title: "lost" } }),
      ]
    ) assertRejected(response, 400, /^fields\.(state|rank): .*filter of table "tasks"/);
    const updates = [{ filters: { id: 2 }, fields: { title: "lost" } }, {
      filters: { id: 3 },
      fields,
    }];
    assertRejected(await batch("tasks", { updates }), 400, /^updates\[1\]\.fields\.state: /);
    assertEquals(await run("select 1 from tasks where title = 'lost'"), []);
    // No row is written, so none can be gone.
    assertMatched(await single("tasks", { filters: { id: 5 }, fields }), 404, 0);
    assertOk(await single("tasks", { filters: { id: 4 }, fields: { state: "open", rank: 4 } }));
    const back = { filters: { id: 4 }, fields: { rank: 4, state: "draft" } };
    assertEquals(assertOk(await single("tasks", back))["updated"], 1);
  });

  if (kind === "real") {
    it("do not update a row that leaves the filter while the update waits [T64] [U20]", async () => {
      for (const filters of [{ id: 6 }, { title: "task 6" }]) {
        let pending: ReturnType<typeof single> | undefined;
        await holding(
          conversation,
          "update tasks set deleted_at = now() where id = 6",
          async () => {
            pending = single("tasks", { filters, fields: { rank: 66 } });
            await awaitBlocked(conversation);
          },
        );
        assertMatched(await pending!, 404, 0);
        await run("update tasks set deleted_at = null where id = 6");
      }
    });
  }

  it("are not exposed if the filter names a missing column, and the log says so [T65]", async () => {
    assertRejected(await get("/integration/tables/strange/fields"), 404);
    if (IS_REMOTE) return;
    const message =
      'policy: tables.strange.only: there is no column "gone" that the role may read, ' +
      "not exposed";
    assert(
      service().observations.some((each) => each.kind === "warning" && each.message === message),
    );
  });
}, { policy: POLICY });

describeService("Views that can be written or shared", (conversation) => {
  const { kind, query, single, bulk, batch, get, run, service } = conversation;
  before(() => run(SCHEMA));

  it("are updated where Postgres can and the policy says so [T67]", async () => {
    for (const filters of [{ id: 1 }, { title: "task 2" }]) {
      const first = await single("open_tasks", { filters, fields: { rank: 41 } });
      assertEquals([assertOk(first)["matched"], first.body["updated"]], [1, 1]);
      const again = await single("open_tasks", { filters, fields: { rank: 41 } });
      assertEquals([assertOk(again)["matched"], again.body["updated"]], [1, 0]);
    }
    const all = await bulk("open_tasks", { filters: { rank: 41 }, fields: { rank: 42 } });
    assertEquals(assertOk(all)["updated"], 2);
    const updates = [1, 2].map((id) => ({ filters: { id }, fields: { rank: id } }));
    assertOk(await batch("open_tasks", { updates }));
    assertMatched(
      await single("open_tasks", { filters: { rank: 8 }, fields: { rank: 9 } }),
      404,
      0,
    );
  });

  it("do not reach other tenants, nor let their key or tenant be set [T67] [S8]", async () => {
    const foreign = { filters: { id: 101 }, fields: { rank: 1 } };
    assertMatched(await single("open_tasks", foreign), 404, 0);
    assertEquals(assertOk(await bulk("open_tasks", foreign))["updated"], 0);
    for (const fields of [{ id: 900 }, { tenant_id: 2 }]) {
      assertRejected(
        await single("open_tasks", { filters: { id: 1 }, fields }),
        400,
        /cannot be set/,
      );
    }
  });

  it("reject an update that would move a row out of the view only if the view has a check option [T67]", async () => {
    const leave = (table: string, rank: number) =>
      [single, bulk].map((update) => update(table, { filters: { id: 3 }, fields: { rank } }));
    for (const response of await Promise.all(leave("ranked_tasks", 150))) {
      const error = assertRejected(response, 400, /^fields/);
      assert(!/task 3|150\)/.test(error), error);
    }
    assertEquals(await run("select rank from tasks where id = 3"), [{ rank: 3 }]);
    const gone = await single("early_tasks", { filters: { id: 3 }, fields: { rank: 60 } });
    assertEquals([assertOk(gone)["matched"], gone.body["updated"]], [1, 1]);
    assertMatched(
      await single("early_tasks", { filters: { id: 3 }, fields: { rank: 3 } }),
      404,
      0,
    );
    assertOk(await single("ranked_tasks", { filters: { id: 3 }, fields: { rank: 3 } }));
  });

  it("have fields that are read-only where Postgres cannot update them [T67]", async () => {
    const { fields } = assertOk(
      await get("/integration/tables/ranked_tasks/fields"),
    ) as unknown as {
      fields: { name: string; writable: boolean }[];
    };
    assertEquals(fields.filter(({ writable }) => writable).map(({ name }) => name), [
      "title",
      "rank",
    ]);
    const body = { filters: { id: 3 }, fields: { doubled: 8 } };
    assertRejected(await single("ranked_tasks", body), 400, /^fields\.doubled/);
  });

  if (kind === "real") {
    for (const filters of [{ id: 6 }, { title: "task 6" }]) {
      it(`do not update a row that leaves the view while the update waits, by ${Object.keys(filters)} [T67] [U20]`, async () => {
        const fields = { rank: 66 };
        for (const change of ["rank = 200", "tenant_id = 2"]) {
          for (
            const send of [
              () => single("ranked_tasks", { filters, fields }),
              () => bulk("ranked_tasks", { filters, fields }),
              () => batch("ranked_tasks", { updates: [{ filters, fields }] }),
            ]
          ) {
            let pending: ReturnType<typeof single> | undefined;
            await holding(conversation, `update tasks set ${change} where id = 6`, async () => {
              pending = send();
              await awaitBlocked(conversation);
            });
            const { status, body } = await pending!;
            assertEquals(
              status === 200 ? body["updated"] : [status, body["matched"]],
              status === 200 ? 0 : [404, 0],
            );
            await run("update tasks set rank = 6, tenant_id = 1 where id = 6");
          }
        }
      });
    }

    it("let exactly one of several compare-and-sets succeed [T67] [U22]", async () => {
      const responses = await Promise.all(
        Array.from(
          { length: 8 },
          (_, n) =>
            single("ranked_tasks", { filters: { id: 7, rank: 7 }, fields: { rank: 70 + n } }),
        ),
      );
      assertEquals(responses.filter(({ status }) => status === 200).length, 1);
      for (const response of responses) {
        if (response.status !== 200) assertMatched(response, 404, 0);
      }
      await run("update tasks set rank = 7 where id = 7");
    });
  }

  it("are exported and followed without the rows that do not match it [T64] [EX1] [CH5]", async () => {
    const accept = { headers: { accept: "application/x-ndjson" } };
    const exported = await query("tasks", { select: ["id"], sort: [{ field: "id" }] }, accept);
    const { body: { records } } = await query("tasks", { select: ["id"], sort: [{ field: "id" }] });
    assertEquals(exported.text.trim().split("\n").map((line) => JSON.parse(line)), records);
    await enableFeeds(service(), ["tasks"]);
    await awaitFeeds(service(), ["tasks"]);
    const ask = async (search: string) =>
      assertOk(await get(`/integration/tables/tasks/changes?${search}`)) as unknown as ChangesBody;
    const first = await ask("limit=1000&fields=id");
    assertEquals(first.changes.map(({ record }) => record), records);
    await run(`update tasks set deleted_at = now() where id in (1, 101);
      update tasks set deleted_at = null where id in (5, 105); delete from tasks where id = 15`);
    const { changes } = await ask(`fields=id&since=${first.cursor}`);
    assertEquals(
      new Set(changes.map(({ type, key }) => `${type} ${key["id"]}`)),
      // Row 15 was never visible.
      new Set(["delete 1", "upsert 5"]),
    );
  });

  it("can only be read where Postgres cannot update them [T67] [T52]", async () => {
    assertEquals(assertOk(await query("counted_tasks"))["total"], 1);
    const body = { filters: { tasks: 20 }, fields: { tasks: 1 } };
    assertRejected(await bulk("counted_tasks", body), 403);
  });

  it("can be shared, and materialised views as well, for reading [T68] [T13]", async () => {
    for (const token of [service().tokens.a, service().tokens.b]) {
      assertEquals(valuesOf(await query("money", {}, { token }), "code"), ["EUR"]);
      assertEquals(assertOk(await query("money_kept", {}, { token }))["total"], 2);
      const body = { filters: { code: "EUR" }, fields: { name: "x" } };
      assertRejected(await single("money", body, { token }), 403);
    }
    const { body } = await get("/integration/tables");
    const shared = (body["tables"] as { name: string; writable: boolean }[])
      .filter(({ name }) => name.startsWith("money"));
    assertEquals(shared.map(({ writable }) => writable), [false, false]);
  });
}, { policy: POLICY });
