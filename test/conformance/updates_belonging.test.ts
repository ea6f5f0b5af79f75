import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { BELONGING_POLICY, BELONGING_SCHEMA } from "../support/belonging.ts";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

/** What becomes of an update that waits for a transaction. */
type Pending = ReturnType<Parameters<Parameters<typeof describeService>[1]>[0]["single"]>;

describeService("Updates of tables that belong to others, concurrency", (conversation) => {
  const { kind, single, bulk, batch, run } = conversation;
  before(() =>
    run(`${BELONGING_SCHEMA}
    create table bags (id int4 primary key, room_id int4 not null references rooms, label text);
    create index on bags (room_id);
    insert into bags values (1, 5, 'bag'), (101, 101, 'bag CANARY');
    grant select, update on bags to public`)
  );

  /** Sends an update while a transaction that has run these statements is open. */
  async function during(statements: string, update: () => Pending): Pending {
    let pending: Pending | undefined;
    await holding(conversation, statements, async () => {
      pending = update();
      await awaitBlocked(conversation);
    });
    assert(pending !== undefined);
    return await pending;
  }

  it("let exactly one of 16 concurrent compare-and-sets succeed in each round [T63] [U22]", async () => {
    for (let round = 0; round < 3; round++) {
      await run(`update rooms set name = 'round ${round}' where id = 12`);
      const responses = await Promise.all(Array.from({ length: 16 }, (_, n) =>
        single("rooms", {
          filters: round === 1 ? { id: 12, name: `round 1` } : { name: `round ${round}` },
          fields: { name: `won ${n}`, home_id: 1 + n % 3 },
        })));
      const won = responses.filter(({ status }) => status === 200);
      assertEquals(won.length, 1, responses.map(({ text }) => text).join("\n"));
      for (const response of responses) {
        if (response.status !== 200) assertMatched(response, 404, 0);
      }
    }
  });

  // The embedded database has one session, which cannot wait for itself.
  if (kind === "embedded") return;

  const LEAVES = "update homes set tenant_id = 2 where id = 1";
  const AWAY = "update rooms set home_id = 101 where id = 3";
  for (
    const [how, filters] of [["by key", { id: 3 }], ["by name", { name: "room 3" }]] as const
  ) {
    for (const [what, change] of [["the parent", LEAVES], ["the row itself", AWAY]] as const) {
      it(`do not update a row whose tenant changed meanwhile with ${what}, ${how} [T63] [U20]`, async () => {
        await run(
          "update homes set tenant_id = 1 where id = 1; update rooms set home_id = 1, seats = 3 where id = 3",
        );
        const fields = { seats: 99 };
        assertMatched(await during(change, () => single("rooms", { filters, fields })), 404, 0);
        await run(
          "update homes set tenant_id = 1 where id = 1; update rooms set home_id = 1 where id = 3",
        );
        assertEquals(
          assertOk(await during(change, () => bulk("rooms", { filters, fields })))["updated"],
          0,
        );
        await run(
          "update homes set tenant_id = 1 where id = 1; update rooms set home_id = 1 where id = 3",
        );
        const updates = [{ filters, fields }];
        assertMatched(await during(change, () => batch("rooms", { updates })), 404, 0);
        await run(
          "update homes set tenant_id = 1 where id = 1; update rooms set home_id = 1 where id = 3",
        );
        assertEquals(await run("select 1 from rooms where seats = 99"), []);
      });
    }
  }

  const MENDED =
    "update homes set tenant_id = 1 where id = 2; update rooms set home_id = 2 where id = 1";
  for (
    const [how, filters] of [
      ["by key", { room_id: 1, place: 1 }],
      ["by another column", { state: "apart" }],
    ] as const
  ) {
    for (
      const [what, change] of [
        ["the grandparent", "update homes set tenant_id = 2 where id = 2"],
        ["the parent", "update rooms set home_id = 102 where id = 1"],
      ] as const
    ) {
      it(`do not update a row whose tenant changed meanwhile with ${what}, over two steps, ${how} [T63] [U20]`, async () => {
        await run(`${MENDED}; update beds set state = 'apart' where room_id = 1 and place = 1`);
        const fields = { state: "lost" };
        const rollback = { headers: { prefer: "tx=rollback" } };
        assertMatched(await during(change, () => single("beds", { filters, fields })), 404, 0);
        await run(MENDED);
        assertMatched(
          await during(change, () => single("beds", { filters, fields }, rollback)),
          404,
          0,
        );
        await run(MENDED);
        const all = await during(change, () => bulk("beds", { filters, fields }));
        assertEquals(assertOk(all)["updated"], 0);
        await run(MENDED);
        const updates = [{ filters, fields }];
        assertMatched(await during(change, () => batch("beds", { updates })), 404, 0);
        await run(MENDED);
        assertEquals(await run("select 1 from beds where state = 'lost'"), []);
      });
    }
  }

  it("count the matching rows again when the grandparent of another row joins the tenant [T63] [U22]", async () => {
    await run(`update beds set state = 'same' where place = 1 and room_id in (1, 101)`);
    const fields = { state: "lost" };
    const response = await during(
      `update homes set tenant_id = 1 where id = 102;
       update beds set state = state where place = 1 and room_id in (1, 101)`,
      () => single("beds", { filters: { state: "same" }, fields }),
    );
    assertMatched(response, 409, 2);
    await run("update homes set tenant_id = 2 where id = 102");
    assertEquals(await run("select 1 from beds where state = 'lost'"), []);
    await run(`update beds set state = 'free CANARY' where place = 1 and room_id = 101;
      update beds set state = 'free' where place = 1 and room_id = 1`);
  });

  it("are not moved to a parent whose own parent leaves the tenant meanwhile [T63] [T61]", async () => {
    await run("update bags set room_id = 5 where id = 1");
    for (const filters of [{ id: 1 }, { label: "bag" }]) {
      for (
        const change of [
          "update homes set tenant_id = 2 where id = (select home_id from rooms where id = 4)",
          "update rooms set home_id = 101 where id = 4",
        ]
      ) {
        for (const update of [single, bulk]) {
          await run(
            "update homes set tenant_id = 1 where id < 100; update rooms set home_id = 2 where id = 4",
          );
          const response = await during(
            change,
            () => update("bags", { filters, fields: { room_id: 4 } }),
          );
          assertRejected(response, 409, /conflict/);
        }
      }
    }
    await run(
      "update homes set tenant_id = 1 where id < 100; update rooms set home_id = 2 where id = 4",
    );
    assertEquals(await run("select room_id from bags where id = 1"), [{ room_id: 5 }]);
    assertOk(await single("bags", { filters: { id: 1 }, fields: { room_id: 4 } }));
  });

  it("still update a row whose parent was changed meanwhile but stayed in the tenant [T63]", async () => {
    for (const filters of [{ id: 1 }, { name: "room 1" }]) {
      const response = await during(
        "update homes set name = name || '!' where id = 2",
        () => single("rooms", { filters, fields: { seats: 50 + Object.keys(filters)[0]!.length } }),
      );
      assertEquals(assertOk(response)["updated"], 1);
    }
  });

  it("count the matching rows again when the parent of another row joins the tenant [T63] [U22]", async () => {
    await run("update rooms set name = 'same' where id in (4, 101)");
    const response = await during(
      `update homes set tenant_id = 1 where id = 102;
       update rooms set home_id = 102 where id = 101;
       update rooms set name = name where id = 4`,
      () => single("rooms", { filters: { name: "same" }, fields: { seats: 98 } }),
    );
    assertMatched(response, 409, 2);
    assertEquals(await run("select 1 from rooms where seats = 98"), []);
    await run(
      "update homes set tenant_id = 2 where id = 102; update rooms set name = 'room 1 CANARY' where id = 101",
    );
  });

  it("are not moved to a parent that leaves the tenant meanwhile [T63] [T61]", async () => {
    await run("update rooms set home_id = 2 where id in (5, 6)");
    for (const filters of [{ id: 5 }, { name: "room 5" }]) {
      for (const update of [single, bulk]) {
        const response = await during(
          "update homes set tenant_id = 2 where id = 3",
          () => update("rooms", { filters, fields: { home_id: 3 } }),
        );
        assertRejected(response, 409, /conflict/);
        await run("update homes set tenant_id = 1 where id = 3");
      }
    }
    assertEquals(await run("select home_id from rooms where id = 5"), [{ home_id: 2 }]);
  });

  it("do not wait for the parents of other tenants [T63]", async () => {
    await holding(conversation, "select from homes where tenant_id = 2 for update", async () => {
      const fields = { seats: 11 };
      for (const [home_id, isOwn] of [[1, true], [101, false]] as const) {
        const { updated } = assertOk(await bulk("rooms", { filters: { home_id }, fields }));
        assertEquals(updated !== 0, isOwn);
      }
      assertRejected(
        await single("rooms", { filters: { id: 5 }, fields: { home_id: 101 } }),
        409,
        /conflict/,
      );
    });
  });
}, {
  policy: {
    tables: {
      ...BELONGING_POLICY.tables,
      bags: { tenant_via: { columns: ["room_id"], table: "rooms" } },
    },
  },
});
