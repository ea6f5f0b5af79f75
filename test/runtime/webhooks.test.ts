import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { type Runtime, RUNTIMES } from "../support/runtime_server.ts";
import { settleSoon, waitUntil } from "../support/wait_until.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

/** A server of the tests, in a process of its own. */
interface Instance {
  readonly process: RunningProcess;
  readonly address: string;
}

for (const runtime of RUNTIMES) {
  describe(`webhooks of rowgate serve on ${runtime}`, () => {
    let database: ServingDatabase;
    let receiver: Receiver;
    let folder: string;
    let token: string;

    before(async () => {
      database = await createServingDatabase();
      receiver = await openReceiver();
      folder = await mkdtemp(join(tmpdir(), "rowgate-webhooks-"));
      await writeFile(join(folder, "authority.pem"), receiver.authority);
      const enabling = startCommand(runtime, ["changes", "enable", "deals"], {
        DATABASE_URL: database.ownerUrl,
      });
      assertEquals(await enabling.ended, 0, enabling.output().stderr);
      token = await database.issue({ scopes: ["query", "update", "webhooks"] });
    });
    after(async () => {
      await receiver?.close();
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    it("deliver signed messages, and only with trust in the receiver's certificate [WH2] [WH11] [SF4]", async () => {
      const server = await start(runtime, true);
      const path = "/trusted";
      await create(server, path);
      await update(server, "first");
      await waitUntil(() => Promise.resolve(receiver.at(path).length > 0));
      const [message] = receiver.at(path);
      const [change] = message!.body.data.changes;
      assertEquals(change?.key, { fid: 1 });
      assertEquals(change?.record?.["note"], "first");
      assertEquals(receiver.faults, []);
      // The cursor of a message leads on in the feed.
      const { cursor } = message!.body.data;
      const listed = await request(server, "GET", `tables/deals/changes?since=${cursor}`);
      assertEquals([listed.status, listed.body.success], [200, true]);
      server.process.send("SIGTERM");
      assertEquals(await server.process.ended, 0);
      const { stdout, stderr } = server.process.output();
      assert(!/whsec_|trusted/.test(stdout + stderr));

      const wary = await start(runtime, false);
      await update(wary, "second");
      await waitUntil(async () => {
        const [row] = await database.admin`select last_error from rowgate.webhooks`;
        return row?.["last_error"] === "the connection failed or was cut off";
      });
      assertEquals(receiver.at(path).length, 1);
      wary.process.send("SIGTERM");
      assertEquals(await wary.process.ended, 0);
      await database.admin`delete from rowgate.webhooks`;
    });

    it("are delivered by another instance when one is killed while it sends [WH19] [WH13]", async () => {
      const path = "/killed";
      receiver.answer(path, () => {});
      const first = await start(runtime, true);
      await create(first, path);
      await update(first, "in flight");
      await waitUntil(() => Promise.resolve(receiver.at(path).length > 0));
      const second = await start(runtime, true);
      await update(second, "meanwhile");
      first.process.send("SIGKILL");
      await first.process.ended;
      receiver.answer(path, 200);
      // The lease of the one that was killed ends.
      await database.admin`update rowgate.webhooks set due_at = due_at - interval '45 seconds'`;
      await waitUntil(() => Promise.resolve(receiver.at(path).length > 2));
      const [sent, repeated, next] = receiver.at(path);
      assertEquals([repeated!.id, repeated!.text], [sent!.id, sent!.text]);
      assertEquals(next!.body.data.changes[0]?.record?.["note"], "meanwhile");
      second.process.send("SIGTERM");
      assertEquals(await second.process.ended, 0);
      await database.admin`delete from rowgate.webhooks`;
    });

    it("stop with the server, and continue with the next one [WH19]", async () => {
      const path = "/stopped";
      receiver.answer(path, () => {});
      const first = await start(runtime, true, { ROWGATE_SHUTDOWN_MS: "1000" });
      await create(first, path);
      await update(first, "stopped");
      await waitUntil(() => Promise.resolve(receiver.at(path).length > 0));
      first.process.send("SIGTERM");
      assertEquals(await settleSoon(first.process.ended, 400), 0);
      receiver.answer(path, 200);
      const second = await start(runtime, true);
      await waitUntil(() => Promise.resolve(receiver.at(path).length > 1));
      const [sent, repeated] = receiver.at(path);
      assertEquals([repeated!.id, repeated!.text], [sent!.id, sent!.text]);
      second.process.send("SIGTERM");
      assertEquals(await second.process.ended, 0);
    });

    async function start(
      runtime: Runtime,
      trusting: boolean,
      settings: Record<string, string> = {},
    ): Promise<Instance> {
      const file = join(folder, "authority.pem");
      const process = startCommand(runtime, ["serve"], {
        DATABASE_URL: database.servingUrl,
        PORT: "0",
        ROWGATE_WEBHOOK_HOSTS: receiver.host,
        ...(trusting && { NODE_EXTRA_CA_CERTS: file, DENO_CERT: file }),
        ...settings,
      });
      return { process, address: await awaitAddress(process) };
    }

    async function request({ address }: Instance, method: string, path: string, body?: unknown) {
      const response = await fetch(`${address}/integration/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    }

    async function create(instance: Instance, path: string): Promise<void> {
      const hook = { url: `${receiver.address}${path}`, tables: ["deals"] };
      const { status, body } = await request(instance, "POST", "webhooks", hook);
      assertEquals(status, 201, JSON.stringify(body));
      receiver.verify(path, body.webhook.secret);
    }

    async function update({ address }: Instance, note: string): Promise<void> {
      const { status, text } = await updateDeal(address, { token, fid: 1, note });
      assertEquals(status, 200, text);
    }
  });
}
