// Streams and exports whose token changes, and streams that are not read, of a real server on each runtime.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { RUNTIMES } from "../support/runtime_server.ts";
import { waitUntil } from "../support/wait_until.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

/** What happens to a token while something of it is under way. */
const CHANGES = [
  ["revoked", "revoked_at = clock_timestamp()"],
  ["moved to another tenant", "tenant = '2'"],
  ["left without the table", "tables = '{guests}'"],
] as const;

/** Rows of tenant 1, and how large each is: together more than sockets hold of a client that waits. */
const ROWS = 60;
const ROW_BYTES = 400_000;
/** Rows of a page that sockets do not hold of a client that waits. */
const ROWS_OF_PAGE = 20;
const MAX_PAGE_BYTES = (ROWS_OF_PAGE + 1) * ROW_BYTES;
/** Half of it has room for four such pages. */
const MAX_UNSENT_BYTES = 9 * ROWS_OF_PAGE * ROW_BYTES;
/** Without it, Deno and Bun take the request for one of HTTP/1.0. */
const KEPT_OPEN = { connection: "keep-alive" };
/** Longer than a token's look-up is kept. */
const KEPT_MS = 5500;

for (const runtime of RUNTIMES) {
  describe(`tokens of streams of rowgate serve on ${runtime}`, () => {
    let database: ServingDatabase;
    let server: RunningProcess;
    let address: string;

    before(async () => {
      database = await createServingDatabase();
      await database.admin`update deals set title = repeat('x', ${ROW_BYTES})`;
      const url = { DATABASE_URL: database.ownerUrl };
      const enabling = startCommand(runtime, ["changes", "enable", "deals"], url);
      assertEquals(await enabling.ended, 0, enabling.output().stderr);
      server = startCommand(runtime, ["serve"], {
        DATABASE_URL: database.servingUrl,
        PORT: "0",
        ROWGATE_MAX_PAGE_BYTES: String(MAX_PAGE_BYTES),
        ROWGATE_MAX_UNSENT_BYTES: String(MAX_UNSENT_BYTES),
        // Large pages wait for one another on a busy machine.
        ROWGATE_POOL_WAIT_MS: "30000",
        ROWGATE_SEND_TIMEOUT_MS: "600000",
      });
      address = await awaitAddress(server);
    });
    after(async () => {
      server?.send("SIGKILL");
      await server?.ended;
      await database?.drop();
    });

    for (const [name, assignment] of CHANGES) {
      for (
        const [where, limit] of [["between its pages", 1], [
          "inside of a page",
          ROWS_OF_PAGE,
        ]] as const
      ) {
        it(`ends a stream with more to give ${where} when its token is ${name} [A29] [CH16] [FD11]`, async () => {
          const token = await database.issue();
          const text = await readAround(
            await openStream(token, `?limit=${limit}`),
            () => change(token, assignment),
          );
          const given = text.split("event: upsert").length - 1;
          assert(given > 0 && given < ROWS, `${given} rows`);
          assert(!text.includes("event: caught_up"));
        });
      }

      it(`cuts off an export when its token is ${name} [A29] [EX20] [FD11]`, async () => {
        const token = await database.issue();
        const response = await ask(token, "deals/query", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/x-ndjson",
            ...KEPT_OPEN,
          },
        });
        assertEquals(response.statusCode, 200);
        const text = await readAround(response, () => change(token, assignment));
        const given = text.split("\n").length - 1;
        assert(given < ROWS, `${given} rows`);
      });

      it(`ends a stream that waits when its token is ${name}, and gives nothing after that [A29] [CH16] [FD11]`, async () => {
        const token = await database.issue();
        const response = await openStream(token, "?since=now&fields=fid");
        let text = "";
        response.on("data", (part) => text += part);
        await waitUntil(() => Promise.resolve(text.includes("event: caught_up")));
        await change(token, assignment);
        await awaitEnd(response);
        assert(!text.includes("event: upsert"), text);
      });
    }

    it("holds half of ROWGATE_MAX_UNSENT_BYTES for streams of a token that are not read, and serves others [FD15] [L14]", async () => {
      const tokens = [await database.issue(), await database.issue({ tenant: "2" })] as const;
      const responses: IncomingMessage[] = [];
      for (let n = 0; n < 24; n++) responses.push(await open(tokens[0], `?limit=${ROWS_OF_PAGE}`));
      const statuses = responses.map(({ statusCode }) => statusCode);
      assertEquals([...new Set(statuses)].sort(), [200, 503]);
      assertEquals(statuses.filter((status) => status === 200).length, 4);
      for (const response of responses) {
        if (response.statusCode === 503) assertEquals(response.headers["retry-after"], "1");
      }
      const other = await openStream(tokens[1], `?limit=${ROWS_OF_PAGE}`);
      for (const response of [...responses, other]) response.destroy();
      await waitUntil(async () => {
        const response = await open(tokens[0], `?limit=${ROWS_OF_PAGE}`);
        response.destroy();
        return response.statusCode === 200;
      });
    });

    const change = (token: string, assignment: string) =>
      database.admin.unsafe(
        `update rowgate.tokens set ${assignment} where id = '${token.split("_")[1]}'`,
      );

    /** By a request of Node, which reads nothing before it is asked to. */
    async function ask(
      token: string,
      path: string,
      { method = "GET", headers }: { method?: string; headers: Record<string, string> },
    ): Promise<IncomingMessage> {
      const asked = request(`${address}/integration/tables/${path}`, {
        ...{ method, headers: { authorization: `Bearer ${token}`, ...headers }, agent: false },
      });
      asked.end(method === "POST" ? "{}" : undefined);
      const [response] = await once(asked, "response") as [IncomingMessage];
      response.on("error", () => {});
      return response;
    }

    const open = (token: string, search: string) =>
      ask(token, `deals/changes${search}`, { headers: { accept: "text/event-stream" } });

    async function openStream(token: string, search: string): Promise<IncomingMessage> {
      const response = await open(token, search);
      assertEquals(response.statusCode, 200);
      return response;
    }
  });
}

/** Reads a little, changes something, waits until that must be known, and reads to the end. */
async function readAround(
  response: IncomingMessage,
  change: () => Promise<unknown>,
): Promise<string> {
  let text = "";
  response.setEncoding("latin1");
  const [first] = await once(response, "data");
  response.pause();
  text += first;
  await change();
  await new Promise((resolve) => setTimeout(resolve, KEPT_MS));
  response.on("data", (part) => text += part);
  response.resume();
  await awaitEnd(response);
  return text;
}

function awaitEnd(response: IncomingMessage): Promise<void> {
  if (response.destroyed || response.readableEnded) return Promise.resolve();
  return new Promise((resolve) => {
    response.once("close", () => resolve());
    response.once("end", () => resolve());
  });
}
