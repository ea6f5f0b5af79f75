import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { after, afterEach, before, describe, it } from "@std/testing/bdd";
import { revokeToken, rotateToken } from "../../../src/access/tokens/manage.ts";
import { disableWebhook, enableWebhook } from "../../../src/feeds/webhooks/administer.ts";
import type { Delivering } from "../../../src/feeds/webhooks/keep_delivering.ts";
import { MAX_BODY_BYTES } from "../../../src/feeds/webhooks/message.ts";
import { MAX_ATTEMPTS } from "../../../src/feeds/webhooks/schedule.ts";
import { DATABASE_KINDS } from "../../support/database.ts";
import { type Holder, type HookRow, type Hooks, openHooks } from "./open_hooks.ts";

const DAY = 86_400;

for (const kind of DATABASE_KINDS) {
  describe(`deliveries of webhooks on ${kind}`, () => {
    let hooks: Hooks;
    let holder: Holder;
    let instance: Delivering;

    before(async () => {
      hooks = await openHooks(kind);
      holder = await hooks.issue();
      instance = hooks.start();
    });
    after(() => hooks?.close());
    afterEach(async () => {
      assertEquals(hooks.receiver.faults, []);
      await hooks.test.admin`delete from rowgate.webhooks`;
    });

    it("sends signed messages in order, and only what has changed since it was created [WH1] [WH2] [WH11]", async () => {
      hooks.source.change("1", "deals", { id: 0, note: "before" });
      const hook = await hooks.hook(holder);
      const ids = Array.from({ length: 450 }, (_, place) => place + 1);
      for (const id of ids) hooks.source.change("1", "deals", { id });
      hooks.source.change("2", "deals", { id: 777 });
      hooks.source.change("1", "guests", { id: 888 });
      await hooks.until(hook, (row) => row["positions"] !== null && isAt(row, "deals", 451));
      const received = hooks.receiver.at(hook.path);
      const sent = received.flatMap(({ body }) => body.data.changes.map(({ key }) => key["id"]));
      assertEquals(sent, ids);
      for (const { body: { type, timestamp, data } } of received) {
        assertEquals([type, data.table], ["rowgate.changes", "deals"]);
        assert(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000, timestamp);
      }
      assertEquals(new Set(received.map(({ id }) => id)).size, received.length);
      assertEquals((await hooks.row(hook))["message"], null);
    });

    it("repeats the same message at the times of the schedule, then sends the next one [WH13] [WH14]", async () => {
      const hook = await hooks.hook(holder);
      hooks.receiver.answer(hook.path, 500);
      hooks.source.change("1", "deals", { id: 1 });
      await hooks.until(hook, (row) => row["failed_attempts"] === 1);
      // What changes meanwhile is not in the repeat, which must be the same.
      hooks.source.change("1", "deals", { id: 2 });
      const waits = [5, 300, 1800];
      for (const [place, seconds] of waits.entries()) {
        const row = await hooks.row(hook);
        assertNear(Number(row["due_in"]), seconds);
        assertEquals(row["last_error"], "status 500");
        if (place === waits.length - 1) hooks.receiver.answer(hook.path, 204);
        await hooks.pass(hook, seconds);
        await hooks.messages(hook, place + 2);
        if (place < waits.length - 1) {
          await hooks.until(hook, (row) => row["failed_attempts"] === place + 2);
        }
      }
      await hooks.messages(hook, 5);
      const received = hooks.receiver.at(hook.path);
      const [first, second, third, fourth, last] = received;
      for (const repeat of [second, third, fourth]) {
        assertEquals([repeat?.id, repeat?.text], [first?.id, first?.text]);
      }
      assertEquals(last?.body.data.changes.map(({ key }) => key["id"]), [2]);
      assertNotEquals(last?.id, first?.id);
      await hooks.until(hook, (row) => row["delivered"] !== null && Number(row["delivered"]) === 2);
      const { failed_attempts, last_error, state } = await hooks.row(hook);
      assertEquals([failed_attempts, last_error, state], [0, null, "enabled"]);
    });

    it("is disabled after ten attempts and says why; nothing is lost when it is enabled [WH14] [WH16]", async () => {
      const hook = await hooks.hook(holder);
      hooks.receiver.answer(hook.path, 503);
      hooks.source.change("1", "deals", { id: 10 });
      for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
        await hooks.until(hook, (row) => row["failed_attempts"] === attempt);
        await hooks.pass(hook, DAY);
      }
      await hooks.until(hook, (row) => row["state"] === "disabled");
      const row = await hooks.row(hook);
      assertEquals(row["reason"], "10 attempts have failed, the last one with: status 503");
      assertEquals([row["message"], row["message_id"], row["lease"]], [null, null, null]);
      assertEquals(hooks.receiver.at(hook.path).length, MAX_ATTEMPTS);
      const disabled = hooks.observations.find((each) =>
        each.kind === "webhook_disabled" && each.webhookId === hook.id
      );
      assert(disabled !== undefined);
      hooks.source.change("1", "deals", { id: 11 });
      hooks.receiver.answer(hook.path, 200);
      await enableWebhook(hooks.database, hook.id);
      instance.wake();
      const received = await hooks.messages(hook, MAX_ATTEMPTS + 1);
      const { data } = received.at(-1)!.body;
      assertEquals(data.changes.map(({ key }) => key["id"]), [10, 11]);
    });

    it("is disabled at once by 410 [WH15]", async () => {
      const hook = await hooks.hook(holder);
      hooks.receiver.answer(hook.path, 410);
      hooks.source.change("1", "deals", { id: 20 });
      await hooks.until(hook, (row) => row["state"] === "disabled");
      assertEquals((await hooks.row(hook))["reason"], "the receiver answered 410 Gone");
      assertEquals(hooks.receiver.at(hook.path).length, 1);
    });

    it("waits as long as Retry-After says, a day at most [WH15]", async () => {
      const hook = await hooks.hook(holder);
      for (const [header, seconds] of [["120", 120], ["999999999", DAY]] as const) {
        hooks.receiver.answer(hook.path, (response) => {
          response.writeHead(429, { "retry-after": header }).end();
        });
        hooks.source.change("1", "deals", { id: 30 });
        await hooks.until(hook, (row) => row["last_error"] === "status 429");
        assertNear(Number((await hooks.row(hook))["due_in"]), seconds);
        hooks.receiver.answer(hook.path, 200);
        await hooks.pass(hook, DAY);
        await hooks.until(hook, (row) => row["last_error"] === null && row["message"] === null);
      }
    });

    it("stops when its token is revoked, and continues with the token that replaced it [WH7]", async () => {
      const first = await hooks.issue();
      const hook = await hooks.hook(first);
      // An instance that has already looked at the token would still send what changes then.
      const isAtRest = (row: HookRow) => row["lease"] === null && Number(row["due_in"]) > 0;
      await hooks.until(hook, isAtRest);
      await rotateToken(hooks.database, { id: first.access.tokenId, overlapSeconds: 0 });
      hooks.source.change("1", "deals", { id: 40 });
      await hooks.messages(hook, 1);
      const [{ id }] = await hooks.test.admin`select id from rowgate.tokens
        where replaces = ${first.access.tokenId}` as unknown as [{ id: string }];
      await hooks.until(hook, isAtRest);
      await revokeToken(hooks.database, id);
      hooks.source.change("1", "deals", { id: 41 });
      await hooks.until(hook, (row) => row["state"] === "disabled");
      assertEquals((await hooks.row(hook))["reason"], "its token has expired or was revoked");
      assertEquals(hooks.receiver.at(hook.path).length, 1);
    });

    it("stops when its token is moved to another tenant, and sends nothing that is pending [WH7] [SF6]", async () => {
      const moved = await hooks.issue();
      const hook = await hooks.hook(moved);
      hooks.receiver.answer(hook.path, (response) => response.writeHead(500).end());
      hooks.source.change("1", "deals", { id: 45 });
      await hooks.until(hook, (row) => row["last_error"] === "status 500");
      await hooks.test.admin`update rowgate.tokens set tenant = '2'
        where id = ${moved.access.tokenId}`;
      hooks.source.change("2", "deals", { id: 46 });
      await hooks.pass(hook, DAY);
      await hooks.until(hook, (row) => row["state"] === "disabled");
      const row = await hooks.row(hook);
      assertEquals(row["reason"], "its token belongs to another tenant now");
      assertEquals(row["message"], null);
      await enableWebhook(hooks.database, hook.id);
      instance.wake();
      await hooks.until(hook, ({ state }) => state === "disabled");
      assertEquals(hooks.receiver.at(hook.path).length, 1);
    });

    it("does not send what is pending once clients see other rows or columns [WH28]", async () => {
      const hook = await hooks.hook(holder);
      hooks.receiver.answer(hook.path, 500);
      hooks.source.change("1", "deals", { id: 47 });
      await hooks.until(hook, (row) => row["last_error"] === "status 500");
      hooks.source.views++;
      hooks.receiver.answer(hook.path, 200);
      await hooks.pass(hook, DAY);
      const [first, second] = await hooks.messages(hook, 2);
      assert(first!.id !== second!.id, "the message was sent again");
    });

    it("stops when its host is no longer allowed [WH22] [SF3]", async () => {
      const hook = await hooks.hook(holder, { url: "https://other.example/x" });
      hooks.source.change("1", "deals", { id: 50 });
      await hooks.until(hook, (row) => row["state"] === "disabled");
      assertEquals((await hooks.row(hook))["reason"], "its host may no longer be called");
    });

    it("reports that changes are missing, and continues after them [WH9]", async () => {
      const hook = await hooks.hook(holder);
      await disableWebhook(hooks.database, { id: hook.id, reason: "a test" });
      hooks.source.change("1", "deals", { id: 60 });
      hooks.source.forget("1", "deals");
      await enableWebhook(hooks.database, hook.id);
      instance.wake();
      const [reset] = await hooks.messages(hook, 1);
      assertEquals(reset?.body.type, "rowgate.reset");
      assertEquals(reset?.body.data.changes, []);
      hooks.source.change("1", "deals", { id: 61 });
      const [, next] = await hooks.messages(hook, 2);
      assertEquals(next?.body.data.changes.map(({ key }) => key["id"]), [61]);
    });

    it("keeps a message below its limit, and sends the key alone of a record that is larger [WH12]", async () => {
      const hook = await hooks.hook(holder);
      const note = "x".repeat(10_000);
      for (let id = 70; id < 110; id++) hooks.source.change("1", "deals", { id, note });
      hooks.source.change("1", "deals", { id: 110, note: "é".repeat(MAX_BODY_BYTES / 2) });
      hooks.source.change("1", "deals", { id: 111 });
      const listChanges = () =>
        hooks.receiver.at(hook.path).flatMap(({ body }) => body.data.changes);
      // How many messages they make depends on how many are there when the first is made.
      await hooks.until(hook, (row) => row["lease"] === null && listChanges().length >= 42);
      const received = hooks.receiver.at(hook.path);
      const changes = listChanges();
      assertEquals(
        changes.map(({ key }) => key["id"]),
        Array.from({ length: 42 }, (_, i) => 70 + i),
      );
      for (const { text } of received) {
        assert(new TextEncoder().encode(text).length < MAX_BODY_BYTES + 1000);
      }
      assertEquals(changes[40]?.record, { id: 110 });
      const partial = received.filter(({ body }) => body.data.partial);
      assertEquals(partial.map(({ body }) => body.data.changes.length), [1]);
    });

    it("fails as long as one of its tables cannot be read, and says so [WH8]", async () => {
      await hooks.test.admin`create table passing (id int primary key, tenant_id int)`;
      const hook = await hooks.hook(holder, { tables: ["deals", "passing"] });
      hooks.source.change("1", "deals", { id: 120 });
      await hooks.until(hook, (row) => row["last_error"] !== null);
      const row = await hooks.row(hook);
      assertMatch(String(row["last_error"]), /^cannot be read: table: "passing" was not found/);
      assertNear(Number(row["due_in"]), 5);
      await hooks.catalogue.refresh(await hooks.catalogue.current(), { reason: "test" } as never);
      await hooks.pass(hook, 5);
      await hooks.messages(hook, 1);
      await hooks.test.admin`drop table passing`;
    });

    it("is delivered within five minutes even if a notification was lost [WH2]", async () => {
      const hook = await hooks.hook(holder);
      await hooks.until(hook, (row) => row["lease"] === null && Number(row["due_in"]) > 5);
      hooks.source.silent = true;
      hooks.source.change("1", "deals", { id: 130 });
      hooks.source.silent = false;
      assert(Number((await hooks.row(hook))["due_in"]) <= 300);
      await hooks.pass(hook, 300);
      await hooks.messages(hook, 1);
    });
  });
}

function isAt({ positions }: Record<string, unknown>, table: string, place: number): boolean {
  const parsed = typeof positions === "string" ? JSON.parse(positions) : positions;
  return parsed?.[table] === String(place);
}

function assertNear(found: number, expected: number): void {
  assert(found > expected - 5 && found <= expected * 1.01 + 1, `${found}, expected ${expected}`);
}
