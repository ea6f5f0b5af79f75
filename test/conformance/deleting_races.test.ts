import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { awaitFeeds, enableFeeds } from "../support/feeds.ts";
import { assertMatched, assertOk } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

const SCHEMA = `
  create table orders (id int4 primary key, tenant_id int4 not null, ref text, note text);
  create table lines (id int4 primary key, tenant_id int4 not null,
    order_id int4 references orders on delete cascade);
  grant select, update, delete on orders, lines to public;`;

describeService("Deletes beside other writes", (conversation) => {
  const { service, remove, removeAll, single, get, run, kind } = conversation;
  let token = "";
  before(async () => {
    await run(SCHEMA);
    token = await service().issue({ scopes: ["query", "update", "delete"] });
  });
  const one = (filters: object) => remove("orders", { filters }, { token });
  const all = (filters: object) =>
    removeAll("orders", { filters }, { token, headers: { prefer: "max-affected=9" } });
  const update = (filters: object, fields: object) =>
    single("orders", { filters, fields }, { token });
  const idsOf = async (table: string) =>
    (await run(`select id from ${table} order by id`)).map(({ id }) => id);

  it("lets one of several clients delete a row, and tells the others that there is none [DE4]", async () => {
    for (let round = 0; round < 5; round++) {
      await run("insert into orders values (1, 1, 'a'), (2, 1, 'b')");
      for (const filters of [{ id: 1 }, { ref: "b" }]) {
        const responses = await Promise.all(Array.from({ length: 4 }, () => one(filters)));
        const statuses = responses.map(({ status }) => status).toSorted();
        assertEquals(statuses, [200, 404, 404, 404]);
      }
    }
    assertEquals(await idsOf("orders"), []);
  });

  it("leaves no row that was both deleted and updated [DE4]", async () => {
    for (let round = 0; round < 5; round++) {
      await run("insert into orders values (1, 1, 'a')");
      const [deleted, updated] = await Promise.all([
        one({ id: 1 }),
        update({ ref: "a" }, { note: "seen" }),
      ]);
      assertEquals(deleted.status, 200);
      assertEquals([200, 404].includes(updated.status), true, updated.text);
      assertEquals(await idsOf("orders"), []);
    }
  });

  if (kind === "real") {
    it("keeps a row that another request changes so that it no longer matches, and deletes it otherwise [DE4]", async () => {
      const cases = [
        ["update orders set ref = 'b'", 404, [1]],
        ["update orders set note = 'changed'", 200, []],
      ] as const;
      for (const [text, status, left] of cases) {
        await run("delete from orders; insert into orders values (1, 1, 'a')");
        let sent: ReturnType<typeof one> | undefined;
        await holding(conversation, text, async () => {
          sent = one({ ref: "a" });
          await awaitBlocked(conversation);
        });
        assertEquals((await sent!).status, status);
        assertEquals(await idsOf("orders"), [...left]);
      }
    });

    it("deletes nothing if a second row matches by the time that the first is free [DE4]", async () => {
      await run("delete from orders; insert into orders values (1, 1, 'a'), (2, 1, 'b')");
      let sent: ReturnType<typeof one> | undefined;
      const text = "update orders set ref = 'a', note = 'x' where tenant_id = 1";
      await holding(conversation, text, async () => {
        sent = one({ ref: "a" });
        await awaitBlocked(conversation);
      });
      const response = await sent!;
      assertMatched(response, 409, 2);
      assertEquals(await idsOf("orders"), [1, 2]);
    });

    it("repeats a bulk delete that ended a deadlock [DE5]", async () => {
      await run("delete from orders; insert into orders values (1, 1, 'a'), (2, 1, 'a')");
      let sent: ReturnType<typeof all> | undefined;
      await service().database.admin.begin(async (transaction) => {
        await transaction.unsafe("select from orders where id = 2 for update");
        sent = all({ ref: "a" });
        await awaitBlocked(conversation);
        // Waits for the delete, which waits for this transaction.
        await transaction.unsafe("update orders set note = 'other' where id = 1");
      });
      assertEquals(assertOk(await sent!)["deleted"], 2);
      assertEquals(await idsOf("orders"), []);
    });

    it("tells a delete and the rows that went with it in the feeds of both tables [DE10]", async () => {
      await run(`delete from orders; insert into orders values (1, 1, 'a');
        insert into lines values (1, 1, 1), (2, 1, 1)`);
      await enableFeeds(service(), ["orders", "lines"]);
      await awaitFeeds(service(), ["orders", "lines"]);
      const changesOf = async (table: string, since: string) =>
        assertOk(await get(`/integration/tables/${table}/changes?since=${since}`, { token }));
      const [orders, lines] = [await changesOf("orders", "now"), await changesOf("lines", "now")];
      assertEquals((await one({ id: 1 })).status, 200);
      const deleted = async (table: string, { cursor }: Record<string, unknown>) => {
        const { changes } = await changesOf(table, encodeURIComponent(String(cursor)));
        return (changes as { type: string; key: { id: number } }[])
          .map(({ type, key }) => `${type} ${key.id}`).toSorted();
      };
      assertEquals(await deleted("orders", orders), ["delete 1"]);
      assertEquals(await deleted("lines", lines), ["delete 1", "delete 2"]);
    });
  }
}, { template: "empty" });
