import { assert, assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { BELONGING_POLICY, BELONGING_SCHEMA } from "../support/belonging.ts";
import { readPages } from "../support/read_pages.ts";
import { IS_REMOTE } from "../support/service.ts";
import { assertMatched, assertOk, assertRejected, recordsOf, valuesOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const options = { policy: BELONGING_POLICY };

describeService("Tables that belong to other tables", (conversation) => {
  const { query, single, bulk, batch, get, run, service } = conversation;
  const b = () => ({ token: service().tokens.b });
  before(() => run(BELONGING_SCHEMA));

  it("show a tenant the rows of its own parents, counted, over one key, two, and one of two columns [T57] [T59]", async () => {
    const rooms = await query("rooms", { sort: [{ field: "id" }] });
    assertEquals(valuesOf(rooms, "id"), Array.from({ length: 12 }, (_, n) => n + 1));
    assertEquals(assertOk(rooms)["total"], 12);
    assertEquals(assertOk(await query("rooms", {}, b()))["total"], 12);
    assertEquals(assertOk(await query("beds", { per_page: 1 }))["total"], 24);
    assertEquals(assertOk(await query("beds", {}, b()))["total"], 24);
    const meters = { sort: [{ field: "id" }] };
    assertEquals(valuesOf(await query("meters", meters), "id"), [1, 2, 3]);
    assertEquals(valuesOf(await query("meters", meters, b()), "id"), [101]);
  });

  it("hide rows of other tenants, and rows without a tenant, from any filter [T59] [S8]", async () => {
    for (
      const filter of [
        { field: "id", op: "in", value: [101, 112, 50] },
        { field: "home_id", op: "eq", value: 101 },
        { field: "home_id", op: "is_null" },
        { field: "name", op: "like", value: "%SECRET%" },
      ]
    ) {
      for (const filters of [{ and: [filter] }, { or: [filter, { or: [] }] }]) {
        const response = await query("rooms", { filters });
        assertEquals([recordsOf(response), response.body["total"]], [[], 0]);
      }
    }
  });

  it("are looked up by key in a batch, each for its own tenant [T59]", async () => {
    const responses = await Promise.all(Array.from({ length: 24 }, (_, n) => {
      const value = n % 2 === 0 ? 1 + n / 2 : 101 + (n - 1) / 2;
      const filters = { and: [{ field: "id", op: "eq", value }] };
      return query("rooms", { filters }, n % 3 === 0 ? b() : {});
    }));
    responses.forEach((response, n) => {
      const isOwn = (n % 2 === 1) === (n % 3 === 0);
      assertEquals(recordsOf(response).length, isOwn ? 1 : 0, `look-up ${n}`);
    });
  });

  it("are paged with and without page tokens, each row once [T59] [Q94]", async () => {
    const sort = [{ field: "seats", direction: "desc" }, { field: "name" }];
    const body = { sort: [{ field: "state" }], per_page: 5 };
    const rows = await readPages(service().send, { table: "beds", body });
    assertEquals(rows.length, 24);
    assertEquals(new Set(rows.map((row) => JSON.stringify(row))).size, 24);
    const numbered: unknown[] = [];
    for (let page = 1; page <= 4; page++) {
      numbered.push(...valuesOf(await query("rooms", { sort, page, per_page: 3 }), "id"));
    }
    assertEquals(numbered, Array.from({ length: 12 }, (_, n) => 12 - n));
  });

  it("are listed with their fields, whose path can be set and whose key cannot [T57] [T43]", async () => {
    const { body } = await get("/integration/tables");
    const named = (body["tables"] as { name: string; writable: boolean }[])
      .filter(({ name }) => ["rooms", "beds", "meters"].includes(name));
    assertEquals(named.map(({ writable }) => writable), [true, true, true]);
    const fields = await get("/integration/tables/rooms/fields");
    const writable = (assertOk(fields)["fields"] as { name: string; writable: boolean }[])
      .filter((field) => field.writable).map(({ name }) => name);
    assertEquals(writable, ["home_id", "name", "seats"]);
  });

  for (
    const [how, table, filters, fields] of [
      ["by key", "rooms", { id: 101 }, { seats: 7 }],
      ["by another column", "rooms", { name: "room 1 CANARY" }, { seats: 7 }],
      ["by the parent", "rooms", { home_id: 102, id: 101 }, { seats: 7 }],
      ["of no tenant", "rooms", { id: 50 }, { seats: 7 }],
      ["over two keys", "beds", { room_id: 101, place: 1 }, { state: "taken" }],
      ["over a key of two columns", "meters", { id: 101 }, { reading: 1 }],
    ] as const
  ) {
    it(`never let a row of another tenant be updated, ${how} [T59] [U20]`, async () => {
      assertMatched(await single(table, { filters, fields }), 404, 0);
      assertEquals(assertOk(await bulk(table, { filters, fields }))["updated"], 0);
      assertMatched(await batch(table, { updates: [{ filters, fields }] }), 404, 0);
      const prefer = { headers: { prefer: "max-affected=5" } };
      assertEquals(assertOk(await bulk(table, { filters, fields }, prefer))["updated"], 0);
    });
  }

  it("are updated by all three operations, and twice the same changes nothing [T59] [U20] [U42]", async () => {
    for (const filters of [{ id: 1 }, { name: "room 2" }]) {
      const first = await single("rooms", { filters, fields: { seats: 20 } });
      assertEquals([assertOk(first)["matched"], first.body["updated"]], [1, 1]);
      const again = await single("rooms", { filters, fields: { seats: 20 } });
      assertEquals([assertOk(again)["matched"], again.body["updated"]], [1, 0]);
    }
    assertMatched(await single("beds", { filters: { place: 1 }, fields: { state: "x" } }), 409, 12);
    assertEquals(
      assertOk(await bulk("beds", { filters: { place: 1 }, fields: { state: "made" } }))["updated"],
      12,
    );
    const updates = [3, 4].map((id) => ({ filters: { id }, fields: { seats: 30 } }));
    assertOk(await batch("rooms", { updates }));
    const changed = await run("select count(*)::int4 as n from rooms where seats in (20, 30)");
    assertEquals(changed, [{ n: 4 }]);
    assertEquals(await run("select count(*)::int4 as n from beds where state = 'made'"), [
      { n: 12 },
    ]);
  });

  it("let rows change to another parent of the tenant [T61]", async () => {
    for (const filters of [{ id: 5 }, { name: "room 6" }]) {
      const response = await single("rooms", { filters, fields: { home_id: 1, seats: 40 } });
      assertEquals(assertOk(response)["updated"], 1);
    }
    assertEquals(
      assertOk(await bulk("rooms", { filters: { seats: 40 }, fields: { home_id: 2 } }))["updated"],
      2,
    );
    const meter = { filters: { id: 2 }, fields: { site: 2 } };
    assertEquals(assertOk(await single("meters", meter))["updated"], 1);
    const back = { filters: { id: 2 }, fields: { site: "1", region: 2 } };
    assertEquals(assertOk(await single("meters", back))["updated"], 1);
  });

  const elsewhere = [
    ["another tenant's", { home_id: 101 }],
    ["one that is not there", { home_id: 999 }],
    ["none", { home_id: null }],
  ] as const;
  for (const [what, fields] of elsewhere) {
    it(`reject ${what} as the new parent like a foreign key, in every operation [T61] [E41]`, async () => {
      // A foreign key of the database, which nothing of a tenant depends on.
      const broken = { filters: { id: 7 }, fields: { home_id: 999, seats: 77 } };
      const text = assertRejected(await single("keepers", broken), 409);
      const attempt = { ...fields, seats: 77 };
      const rollback = { headers: { prefer: "tx=rollback" } };
      for (
        const response of [
          await single("rooms", { filters: { id: 7 }, fields: attempt }),
          await single("rooms", { filters: { name: "room 7" }, fields: attempt }),
          await single("rooms", { filters: { id: 7 }, fields: attempt }, rollback),
          await bulk("rooms", { filters: { id: 7 }, fields: attempt }),
          await bulk("rooms", { filters: { home_id: 3 }, fields: attempt }, {
            headers: { prefer: "max-affected=100" },
          }),
        ]
      ) assertEquals(assertRejected(response, 409), text);
      const updates = [
        { filters: { id: 8 }, fields: { seats: 77 } },
        { filters: { id: 9 }, fields: attempt },
      ];
      const response = await batch("rooms", { updates });
      const at = assertRejected(response, 409);
      assertMatch(at, /^updates\[1\]/);
      assertEquals(at.replace(/^updates\[1\](: |\.)/, ""), text);
      assertEquals(await run("select 1 from rooms where seats = 77"), []);
      // Nothing is written, so nothing can be in conflict.
      assertMatched(await single("rooms", { filters: { id: 999 }, fields: attempt }), 404, 0);
    });
  }

  it("write no row of a bulk if one would leave the tenant [T61] [U33]", async () => {
    // Meters 1 to 3 are of the regions 1, 2 and 2: site 2 of region 1 is another tenant's.
    for (const fields of [{ site: 2 }, { site: 9 }, { site: null }]) {
      const response = await bulk("meters", {
        filters: { reading: 30 },
        fields: { ...fields, reading: 31 },
      });
      if (fields.site === 2) {
        assertEquals(assertOk(response)["updated"], 1);
        await run("update meters set reading = 30, site = 2 where id = 3");
      } else assertRejected(response, 409);
    }
    await run("update meters set reading = 5 where id < 50");
    assertRejected(
      await bulk("meters", { filters: { reading: 5 }, fields: { site: 2 } }),
      409,
    );
    const sites = await run("select site from meters where id in (1, 2, 3) order by id");
    assertEquals(sites.map(({ site }) => site), [1, 1, 2]);
  });

  it("are rejected for other invalid values in the same update [T61] [E36]", async () => {
    const fields = { home_id: 1, seats: -1 };
    assertRejected(await single("rooms", { filters: { id: 7 }, fields }), 400, /check constraint/);
    const response = await single("rooms", { filters: { id: 7 }, fields: { home_id: "x" } });
    assertRejected(response, 400, /home_id/);
  });

  it("are not reachable over rows of child tables of the parent [T59]", async () => {
    await run(`create table homes_of_old () inherits (homes);
      insert into homes_of_old values (1, 2, 'CANARY')`);
    const filters = { and: [{ field: "home_id", op: "eq", value: 1 }] };
    assertEquals(assertOk(await query("rooms", { filters }, b()))["total"], 0);
    await run("drop table homes_of_old");
  });

  it("have no changes feed, even where triggers were installed by hand [T62]", async () => {
    const response = await get("/integration/tables/rooms/changes");
    assertRejected(response, 404, /feed/);
  });
}, options);

describeService("Tables whose path cannot be followed", (conversation) => {
  const { get, query, single, run, service } = conversation;
  before(() =>
    run(`${BELONGING_SCHEMA}
    create table loose (id int4 primary key, home_id int4, note text);
    create table ring_a (id int4 primary key, other int4);
    create table ring_b (id int4 primary key references ring_a, other int4 references ring_a);
    alter table ring_a add foreign key (other) references ring_b;
    create table wares (id int4 primary key, name text);
    create table stocks (id int4 primary key, ware_id int4 references wares);
    create table stamped (id int4 primary key, home_id int4 references homes, tenant_id int4);
    insert into stamped values (1, 1, 2);
    create table shut (id int4 primary key, tenant_id int4 not null);
    create table behind (id int4 primary key, shut_id int4 references shut, note text);
    insert into shut values (1, 1); insert into behind values (1, 1, 'x');
    grant select, update on loose, ring_a, ring_b, wares, stocks, stamped, behind to public;
    revoke all on shut from public; grant select on shut to public`)
  );

  for (
    const [table, reason] of [
      ["loose", 'no foreign key of "loose" refers from "home_id" to "homes"'],
      ["ring_a", 'it leads back to "ring_a"'],
      ["stocks", 'neither a column nor the policy says which tenant the rows of "wares" belong to'],
      ["meters", 'no foreign key of "meters" refers from "region" to "sites"'],
      ["beds", 'there is no table "nothing" with a tenant'],
    ] as const
  ) {
    it(`do not exist for clients, and the log says why: ${table} [T58]`, async () => {
      assertRejected(await get(`/integration/tables/${table}/fields`), 404);
      if (IS_REMOTE) return;
      const warning = `policy: tables.${table}.tenant_via: ${reason}, not exposed`;
      const { observations } = service();
      assert(
        observations.some((each) => each.kind === "warning" && each.message === warning),
        JSON.stringify(observations.filter(({ kind }) => kind === "warning")),
      );
    });
  }

  it("are confined by their tenant column where they have one [T58] [T2]", async () => {
    assertEquals(assertOk(await query("stamped"))["total"], 0);
    const { body } = await query("stamped", {}, { token: service().tokens.b });
    assertEquals(body["total"], 1);
  });

  if (conversation.kind === "real") {
    it("can only be read where the role may not lock the parent [T60]", async () => {
      assertEquals(assertOk(await query("behind"))["total"], 1);
      assertRejected(await single("behind", { filters: { id: 1 }, fields: { note: "y" } }), 403);
    });
  }
}, {
  policy: {
    tables: {
      loose: { tenant_via: { columns: ["home_id"], table: "homes" } },
      ring_a: { tenant_via: { columns: ["other"], table: "ring_b" } },
      ring_b: { tenant_via: { columns: ["other"], table: "ring_a" } },
      wares: { shared: true },
      stocks: { tenant_via: { columns: ["ware_id"], table: "wares" } },
      meters: { tenant_via: { columns: ["region"], table: "sites" } },
      beds: { tenant_via: { columns: ["room_id"], table: "nothing" } },
      stamped: { tenant_via: { columns: ["home_id"], table: "homes" } },
      behind: { tenant_via: { columns: ["shut_id"], table: "shut" } },
    },
  },
});
