// With the feeds of the database: a receiver that applies the messages in order has the table's rows.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { findTarget } from "../../../src/feeds/changes/find_feeds.ts";
import { enableFeed } from "../../../src/feeds/changes/manage_feeds.ts";
import { applyChanges, type Change, type Copy, enableFeeds } from "../../support/feeds.ts";
import { openReceiver, type Receiver } from "../../support/receiver.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

describe("webhooks on the feeds of a database", () => {
  let service: TestService;
  let receiver: Receiver;
  let token: string;

  before(async () => {
    receiver = await openReceiver();
    service = await createTestService("real", {
      environment: { ROWGATE_WEBHOOK_HOSTS: receiver.host },
      fetch: receiver.fetch,
    });
    await enableFeeds(service, ["deals", "guests"]);
    token = await service.issue({ scopes: ["query", "update", "webhooks"] });
  });
  after(async () => {
    await service?.close();
    await receiver?.close();
  });

  it("keep a copy equal to the table while others write, without rows of another tenant [WH1] [WH2] [WH11]", async () => {
    const { admin } = service.database;
    const path = "/copy";
    const created = await service.send("POST", "/integration/webhooks", {
      token,
      body: { url: `${receiver.address}${path}`, tables: ["deals", "guests"] },
    });
    assertEquals(created.status, 201, created.text);
    const { secret } = created.body["webhook"] as { secret: string };
    receiver.verify(path, secret);
    const copies: Record<string, Copy> = { deals: new Map(), guests: new Map() };
    for (const [name, copy] of Object.entries(copies)) {
      applyChanges(copy, await readAll(name));
    }
    let refused = 0;
    receiver.answer(path, (response) => {
      // Every third attempt fails, and is repeated.
      const status = receiver.at(path).length % 3 === 0 ? 500 : 200;
      if (status === 500) refused++;
      response.writeHead(status).end();
    });
    for (let round = 0; round < 12; round++) {
      await admin`update deals set note = ${`round ${round}`} where fid % 7 = ${round % 7}`;
      await admin`update guests set name = ${`guest ${round}`} where id % 5 = ${round % 5}`;
      if (round === 6) await admin`delete from deals where fid = 60 and tenant_id = 1`;
      if (round % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const seen = new Set<string>();
    await waitUntil(async () => {
      await admin`update rowgate.webhooks set due_at = now() where failed_attempts > 0`;
      for (const { id, body } of receiver.at(path)) {
        if (seen.has(id)) continue;
        seen.add(id);
        applyChanges(copies[body.data.table]!, body.data.changes as readonly Change[]);
      }
      return await isCopied("deals") && await isCopied("guests");
    });
    assertEquals(receiver.faults, []);
    assertEquals(refused > 0, true);
    for (const { body } of receiver.at(path)) {
      for (const { record } of body.data.changes) {
        if (record !== null) assertEquals(record["tenant_id"], 1);
      }
    }
    const last = receiver.at(path).at(-1)!.body.data;
    const listed = await service.send(
      "GET",
      `/integration/tables/${last.table}/changes?since=${last.cursor}`,
      { token },
    );
    assertEquals(listed.status, 200, listed.text);

    async function isCopied(table: string): Promise<boolean> {
      const rows: Copy = new Map();
      applyChanges(rows, await readAll(table));
      const print = (copy: Copy) => JSON.stringify([...copy].toSorted());
      return print(rows) === print(copies[table]!);
    }
  });

  it("are created for a table whose feed the service has not noticed yet [WH4] [T42]", async () => {
    // Behind a pooler nothing is announced to it.
    const environment = { ROWGATE_PREPARE: "off", ROWGATE_WEBHOOK_HOSTS: receiver.host };
    const alone = await createTestService("real", { environment, fetch: receiver.fetch });
    try {
      const holder = await alone.issue({ scopes: ["query", "webhooks"] });
      const body = { url: `${receiver.address}/new`, tables: ["deals"] };
      const create = () => alone.send("POST", "/integration/webhooks", { token: holder, body });
      const before = await create();
      assertEquals(before.status, 400, before.text);
      const { tables } = await alone.catalogue.current();
      const { target } = await findTarget(alone.owner, tables.get("deals")!);
      await enableFeed(alone.owner, target);
      // Unknown names have the database asked once a second.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const created = await create();
      assertEquals(created.status, 201, created.text);
    } finally {
      await alone.close();
    }
  });

  async function readAll(table: string): Promise<Change[]> {
    const changes: Change[] = [];
    for (let since = "start", more = true; more;) {
      const path = `/integration/tables/${table}/changes?since=${since}&limit=1000`;
      const { body, text, status } = await service.send("GET", path, { token });
      assertEquals(status, 200, text);
      changes.push(...body["changes"] as Change[]);
      ({ cursor: since, more } = body as unknown as { cursor: string; more: boolean });
    }
    return changes;
  }
});
