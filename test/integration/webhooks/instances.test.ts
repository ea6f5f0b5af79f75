import { assert, assertEquals } from "@std/assert";
import { after, afterEach, before, describe, it } from "@std/testing/bdd";
import {
  acknowledge,
  claimWebhooks,
  keepMessage,
  type Message,
} from "../../../src/feeds/webhooks/leases.ts";
import { replayWebhook } from "../../../src/feeds/webhooks/administer.ts";
import { type Holder, type Hook, type Hooks, openHooks } from "./open_hooks.ts";
import { settleSoon } from "../../support/wait_until.ts";

const CLAIM = { schema: "public", limit: 10, busyTenants: [] };

describe("several instances that deliver webhooks", () => {
  let hooks: Hooks;
  let holder: Holder;

  before(async () => {
    hooks = await openHooks();
    holder = await hooks.issue();
  });
  afterEach(() => hooks.clear());
  after(() => hooks?.close());

  it("send each message once, in order [WH19]", async () => {
    // None is given up, though the machine be busy: it would be sent again.
    const instances = Array.from({ length: 3 }, () => hooks.start({ postTimeoutMs: 60_000 }));
    const holders = [holder, await hooks.issue("2"), await hooks.issue("2")];
    const all: (Hook & { tenant: string })[] = [];
    for (let count = 0; count < 12; count++) {
      const owner = holders[count % 3]!;
      all.push({ ...await hooks.hook(owner), tenant: owner.access.tenant });
    }
    for (let id = 0; id < 60; id++) {
      for (const tenant of ["1", "2"]) hooks.source.change(tenant, "deals", { id });
      if (id % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    for (const hook of all) {
      await hooks.until(
        hook,
        ({ positions, lease }) => lease === null && JSON.stringify(positions).includes("60"),
      );
      const received = hooks.receiver.at(hook.path);
      const ids = received.flatMap(({ body }) => body.data.changes.map(({ key }) => key["id"]));
      assertEquals(ids, Array.from({ length: 60 }, (_, id) => id));
      assertEquals(new Set(received.map(({ id }) => id)).size, received.length);
    }
    for (const instance of instances) await hooks.stop(instance);
  });

  it("take over from one that crashed, once its lease has ended, with the same message [WH19] [WH13]", async () => {
    const hook = await hooks.hook(holder);
    const [leased] = await claimWebhooks(hooks.database, CLAIM);
    assertEquals(leased?.id, hook.id);
    const body = '{"type":"rowgate.changes","data":{"table":"deals","changes":[],"cursor":"60"}}';
    const message: Message = { id: "msg_kept", table: "deals", cursor: "60", body };
    assert(await keepMessage(hooks.database, leased!, message));
    // It has crashed here: nothing more comes of it.
    const instance = hooks.start();
    assertEquals(await claimWebhooks(hooks.database, CLAIM), []);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assertEquals(hooks.receiver.at(hook.path), []);
    await hooks.pass(hook, 45);
    const [received] = await hooks.messages(hook, 1);
    assertEquals([received?.id, received?.text], ["msg_kept", body]);
    await hooks.until(hook, ({ lease }) => lease === null);
    // And if it has not crashed but was asleep, its word no longer counts.
    assertEquals(await acknowledge(hooks.database, leased!, { ...message, cursor: "3" }), false);
    assertEquals(await keepMessage(hooks.database, leased!, message), false);
    assertEquals((await hooks.row(hook))["positions"], { deals: "60" });
    await hooks.stop(instance);
  });

  it("look again when rows change while an instance finds none [WH2]", async () => {
    const hook = await hooks.hook(holder);
    let changed = false;
    const instance = hooks.start({
      source: {
        ...hooks.source,
        read: async (position) => {
          const read = await hooks.source.read(position);
          if (read.count > 0 || changed) return read;
          // After the reading and before the webhook is put down.
          changed = true;
          hooks.source.change("1", "deals", { id: 500 });
          await new Promise((resolve) => setTimeout(resolve, 200));
          return read;
        },
      },
    });
    const [received] = await hooks.messages(hook, 1);
    assertEquals(received?.body.data.changes.map(({ key }) => key["id"]), [500]);
    await hooks.stop(instance);
  });

  it("end their attempts when they stop, and leave the message to other instances at once [WH19]", async () => {
    const hook = await hooks.hook(holder);
    hooks.receiver.answer(hook.path, () => {});
    const first = hooks.start({ postTimeoutMs: 20_000 });
    hooks.source.change("1", "deals", { id: 600 });
    await hooks.messages(hook, 1);
    await settleSoon(first.close(200), 150);
    const row = await hooks.row(hook);
    assertEquals([row["lease"], row["failed_attempts"]], [null, 0]);
    hooks.receiver.answer(hook.path, 200);
    const second = hooks.start();
    const [, again] = await hooks.messages(hook, 2);
    assertEquals(again?.text, hooks.receiver.at(hook.path)[0]?.text);
    await hooks.stop(second);
  });

  it("send the changes after a cursor again when a webhook is replayed, also while a message is pending [WH18]", async () => {
    const hook = await hooks.hook(holder);
    const cursor = String((await hooks.row(hook))["positions"] && "0");
    const instance = hooks.start();
    hooks.source.change("1", "deals", { id: 700 });
    await hooks.until(hook, ({ delivered, lease }) => Number(delivered) === 1 && lease === null);
    hooks.receiver.answer(hook.path, () => {});
    hooks.source.change("1", "deals", { id: 701 });
    await hooks.messages(hook, 2);
    const replayed = await replayWebhook(hooks.database, {
      id: hook.id,
      table: "deals",
      position: cursor,
    });
    assertEquals(replayed?.id, hook.id);
    hooks.receiver.answer(hook.path, 200);
    instance.wake();
    await hooks.until(
      hook,
      ({ lease, message_id, positions }) =>
        lease === null && message_id === null && !JSON.stringify(positions).includes('"0"'),
    );
    const last = hooks.receiver.at(hook.path).slice(2).flatMap(({ body }) => body.data.changes);
    assertEquals(last.slice(-2).map(({ key }) => key["id"]), [700, 701]);
    assertEquals(
      await replayWebhook(hooks.database, { id: hook.id, table: "guests", position: "0" }),
      undefined,
    );
    await hooks.stop(instance);
  });
});
