import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const QUERY = "/integration/tables/guests/query";
/** A row of it makes a response of as many bytes: more than the kernel takes of one that reads nothing. */
const BYTES = 7_000_000;
const MAX_UNSENT_BYTES = 40_000_000;
const SEND_TIMEOUT_MS = 3000;
/** Each response that is not read is held at least as long; its log line is written after it began. */
const HELD_MS = SEND_TIMEOUT_MS - 500;
const READERS = 64;
/** The log line of a response to the readers. */
const LONG_RESPONSE = /"status":200,.*"operation":"query_records",.*"tenant":"1"/;
/** Of a long response one after the other, of which none may lose a byte. */
const ROUNDS = 4;

for (const runtime of RUNTIMES) {
  describe(`clients that do not read, on ${runtime}`, () => {
    let service: TestService;
    const logged: string[] = [];

    beforeAll(async () => {
      service = await createTestService("real", {
        runtime,
        environment: {
          ROWGATE_MAX_UNSENT_BYTES: String(MAX_UNSENT_BYTES),
          ROWGATE_SEND_TIMEOUT_MS: String(SEND_TIMEOUT_MS),
          // Pages of 7 MB wait for one another on a busy machine.
          ROWGATE_POOL_WAIT_MS: "120000",
        },
        logged: (line) => logged.push(line),
      });
      const { admin } = service.database;
      for (const tenant of [1, 2]) {
        await admin`insert into guests values (${900 + tenant}, ${tenant}, ${
          "€".repeat(BYTES / 3)
        })`;
      }
    });
    afterAll(() => service.close());

    function ask(token: string, headers = ""): Reader {
      const body = '{"filters":{"and":[{"field":"id","op":"gt","value":900}]}}';
      return openReader(
        service.server!.address,
        `POST ${QUERY} HTTP/1.1\r\nHost: rowgate\r\nContent-Type: application/json\r\n` +
          `Authorization: Bearer ${token}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    }

    it("keeps memory bounded, serves others, and cuts off the clients that do not read [RE29] [L14]", async () => {
      const { a, b } = service.tokens;
      const { pid } = service.server!;
      const beforeMiB = await readMiB(pid);
      const readers = Array.from({ length: READERS }, () => ask(a));
      await waitUntil(async () => {
        assertEquals((await service.send("GET", "/livez", { token: null })).status, 200);
        const small = await service.send("POST", QUERY, { body: { per_page: 1 }, token: b });
        assertEquals(small.status, 200);
        const { text } = await service.send("GET", "/metrics");
        return /^rowgate_requests_in_flight 1$/m.test(text);
      });
      const answeredMs = performance.now();
      const grownMiB = await readMiB(pid) - beforeMiB;
      // Another tenant has room for a long response meanwhile.
      const other = ask(b);
      assertMatch(await other.read(), /^HTTP\/1\.1 200/);
      await waitUntil(() => logged.some((line) => line.includes("a response was cut off")));
      await new Promise((resolve) =>
        setTimeout(resolve, answeredMs + SEND_TIMEOUT_MS + 1000 - performance.now())
      );
      const received = await Promise.all(readers.map((reader) => reader.read()));
      const statuses = received.map((text) => text.slice(9, 12));
      assertEquals([...new Set(statuses)].sort(), ["200", "503"]);
      for (const text of received) {
        if (text.startsWith("HTTP/1.1 503")) {
          assertMatch(text, /^retry-after: 1\r$/im);
          assertMatch(
            text,
            /"error":"Too many long responses .* at most \d+ bytes .* again in a second"/,
          );
        } else assert(!isWhole(text) && text.length < BYTES, "it ends as if it were whole");
      }
      // A tenant has half of the room. What began within less than the timeout is held together.
      const most = MAX_UNSENT_BYTES / 2 / BYTES;
      const begun = logged.filter((line) => LONG_RESPONSE.test(line)).map(readTime);
      assertEquals(begun.length, statuses.filter((status) => status === "200").length);
      for (const first of begun) {
        const held = begun.filter((ms) => ms >= first && ms < first + HELD_MS);
        assert(held.length <= most, `${held.length} held at once of ${statuses}`);
      }
      assert(grownMiB < 700, `${grownMiB} MiB`);
      const again = await ask(a).read();
      assert(again.startsWith("HTTP/1.1 200") && isWhole(again));
      // Bun sends what is a stream in chunks.
      assertEquals(/^content-length: /im.test(again.slice(0, 2000)), runtime !== "bun");
    });

    for (const headers of ["", "Accept-Encoding: gzip\r\n"]) {
      it(`sends long responses whole to a client that reads${headers && ", compressed"} [RE29] [L14]`, async () => {
        const path = service.server!.address + QUERY;
        for (let round = 0; round < ROUNDS; round++) {
          const response = await fetch(path, {
            method: "POST",
            headers: {
              "authorization": `Bearer ${service.tokens.a}`,
              "content-type": "application/json",
              "accept-encoding": headers === "" ? "identity" : "gzip",
            },
            body: '{"filters":{"and":[{"field":"id","op":"gt","value":900}]}}',
          });
          const { records } = await response.json();
          assertEquals(records[0].name.length, BYTES / 3 | 0);
        }
      });
    }
  });
}

/** A connection of which nothing is read until all is. */
interface Reader {
  /** All that comes until the server ends the response or cuts it off. */
  readonly read: () => Promise<string>;
}

function openReader(address: string, request: string): Reader {
  const { hostname, port } = new URL(address);
  let text = "";
  const socket: Socket = connect(Number(port), hostname, () => socket.write(request));
  socket.pause();
  const ended = new Promise<string>((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (isWhole(text)) socket.destroy();
    });
  });
  return {
    read() {
      socket.resume();
      return ended;
    },
  };
}

/** Reports whether a response has come to its end, by its length or in chunks. */
function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1];
  if (length === undefined) return text.endsWith("\r\n0\r\n\r\n");
  return text.length === end + 4 + Number(length);
}

/** When a log line was written, in ms. */
function readTime(line: string): number {
  return Date.parse(JSON.parse(line).time);
}

async function readMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)![1]) / 1024;
}
