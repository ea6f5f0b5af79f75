// The changes feed over HTTP: streams and waits of a real server, on each runtime.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { RUNTIMES } from "../support/runtime_server.ts";
import { waitSoon, waitUntil } from "../support/wait_until.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

/** An event of a stream, and the cursor that a client would go on with. */
interface Event {
  readonly type: string;
  readonly data: { readonly key?: { readonly fid: number }; readonly record?: { note: string } };
  readonly id: string;
}

/** A stream that is being read. */
interface Stream {
  readonly type: string | undefined;
  readonly events: Event[];
  readonly ended: Promise<void>;
  readonly disconnect: () => void;
}

for (const runtime of RUNTIMES) {
  describe(`streams of changes of rowgate serve on ${runtime}`, () => {
    let database: ServingDatabase;
    let server: RunningProcess;
    let address: string;

    before(async () => {
      database = await createServingDatabase();
      const url = { DATABASE_URL: database.ownerUrl };
      const enabling = startCommand(runtime, ["changes", "enable", "deals"], url);
      assertEquals(await enabling.ended, 0, enabling.output().stderr);
      await start();
    });
    after(async () => {
      server?.send("SIGKILL");
      await server?.ended;
      await database?.drop();
    });

    it("holds a request until there is a change, and forgets clients that disconnect [CH7] [CH17]", async () => {
      const streams = [await open("?since=now"), await open("?since=now")];
      await until(async () => await countWaiting() === 2);
      for (const stream of streams) stream.disconnect();
      await until(async () => await countWaiting() === 0);
      const { cursor } = await ask("?since=now");
      const waiting = ask(`?since=${cursor}&wait=30`);
      await until(async () => await countWaiting() === 1);
      await update(9, "held");
      const { changes, more } = await waiting;
      assertEquals([changes.map(({ key }) => key.fid), more], [[9], false]);
      await until(async () => await countWaiting() === 0);
    });

    // The last test: the server that it starts again ends with it.
    it("sends rows, caught_up and each change at once, and continues after a restart [CH15] [CH16]", async () => {
      const stream = await open("?limit=25");
      assertEquals(stream.type, "text/event-stream");
      await until(() => stream.events.at(-1)?.type === "caught_up");
      assertEquals(stream.events.filter(({ type }) => type === "upsert").length, 60);
      await update(7, "at once");
      await waitSoon(() => stream.events.some(({ data }) => data.record?.note === "at once"), 250);
      server.send("SIGTERM");
      await stream.ended;
      assertEquals(await server.ended, 0, server.output().stderr);
      await database.admin`update deals set note = 'meanwhile' where fid = 8`;
      await database.admin`delete from deals where fid = 60 and tenant_id = 1`;
      await start();
      const { id } = stream.events.findLast(({ id }) => id !== "")!;
      const next = await open("?since=start", { "last-event-id": id });
      await until(() => next.events.at(-1)?.type === "caught_up");
      assertEquals(next.events.map(({ type, data }) => [type, data.key?.fid]), [
        ["upsert", 8],
        ["delete", 60],
        ["caught_up", undefined],
      ]);
      next.disconnect();
    });

    const until = (condition: () => boolean | Promise<boolean>) =>
      waitUntil(() => Promise.resolve(condition()));

    async function start(): Promise<void> {
      server = startCommand(runtime, ["serve"], { DATABASE_URL: database.servingUrl, PORT: "0" });
      address = await awaitAddress(server);
    }

    async function update(fid: number, note: string): Promise<void> {
      const { status, text } = await updateDeal(address, { token: database.token, fid, note });
      assertEquals(status, 200, text);
    }

    async function ask(search: string) {
      const response = await fetch(`${address}/integration/tables/deals/changes${search}`, {
        headers: { authorization: `Bearer ${database.token}` },
      });
      assertEquals(response.status, 200);
      return await response.json() as {
        readonly changes: readonly { readonly key: { readonly fid: number } }[];
        readonly cursor: string;
        readonly more: boolean;
      };
    }

    async function countWaiting(): Promise<number> {
      const text = await (await fetch(`${address}/metrics`)).text();
      return Number(/^rowgate_changes_waiting(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1]);
    }

    /** By a request of Node, which closes its connection at once when it is destroyed. */
    async function open(search: string, headers: Record<string, string> = {}): Promise<Stream> {
      const asked = request(`${address}/integration/tables/deals/changes${search}`, {
        headers: {
          authorization: `Bearer ${database.token}`,
          accept: "text/event-stream",
          ...headers,
        },
        agent: false,
      });
      asked.end();
      const [response] = await once(asked, "response") as [IncomingMessage];
      assertEquals(response.statusCode, 200);
      response.setEncoding("utf8");
      const events: Event[] = [];
      const ended = readEvents(response, events).catch(() => {});
      const type = response.headers["content-type"];
      return { type, events, ended, disconnect: () => void asked.destroy() };
    }
  });
}

async function readEvents(body: AsyncIterable<string>, events: Event[]): Promise<void> {
  let rest = "";
  let id = "";
  for await (const text of body) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]),
      );
      id = fields.get("id") ?? id;
      const data = fields.get("data");
      if (data !== undefined) {
        events.push({ type: fields.get("event")!, data: JSON.parse(data), id });
      }
    }
  }
}
