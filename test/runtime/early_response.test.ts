// Responses that are given before the body was read, to clients that read nothing while they send.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { RUNTIMES, type RuntimeServer, startServer } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { statusesOf } from "./send_bytes.ts";

const QUERY = "/integration/tables/guests/query";
const MIB = 2 ** 20;
/** More than the buffers of a socket on both sides take. */
const LARGE_BYTES = 24 * MIB;
/** What a server may read before it counts again. */
const UNCOUNTED_BYTES = 16 * MIB;
/** A client that pauses while it sends, for longer than Node drains a body by itself. */
const PAUSES_MS = 800;

let service: TestService;
beforeAll(async () => {
  service = await createTestService("real");
});
afterAll(() => service.close());

/** By then a second response would have come. */
const FOLLOWS_MS = 300;
const CLOSES = /\r\nconnection: close\r\n/i;

/** What a client saw that wrote all of its request before it read. */
interface Seen {
  readonly received: string;
  readonly error: string | undefined;
}

for (const runtime of RUNTIMES) {
  describe(`a response of ${runtime} before the body was read`, () => {
    let server: RuntimeServer;
    beforeAll(async () => {
      server = await startServer(runtime, {
        environment: {
          DATABASE_URL: service.database.servingUrl!,
          ROWGATE_REQUEST_TIMEOUT_MS: "3000",
        },
        policyText: JSON.stringify(FIXTURE_POLICY),
      });
    });
    afterAll(() => server?.stop());

    function head(more: string, token = service.tokens.a): string {
      return `POST ${QUERY} HTTP/1.1\r\nHost: rowgate\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${token}\r\n${more}\r\n\r\n`;
    }

    /** Sends parts one after the other, each when the one before is written, and reads only then. */
    function sendUnheard(parts: readonly (string | Buffer)[], pauseMs = 0): Promise<Seen> {
      const { hostname: host, port } = new URL(server.address);
      return new Promise((resolve) => {
        const socket = connect({ host, port: Number(port) });
        let [received, error] = ["", undefined as string | undefined];
        const end = () => {
          clearTimeout(timer);
          socket.destroy();
          resolve({ received, error });
        };
        const timer = setTimeout(end, 20_000);
        socket.pause();
        socket.on("error", (cause: Error & { code?: string }) => error = cause.code);
        socket.on("close", end);
        socket.on("connect", async () => {
          for (const part of parts) {
            await new Promise((done) => socket.write(part, done));
            if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
          }
          socket.on("data", (chunk) => {
            received += chunk.toString("latin1");
            const isWhole = /\r\n\r\n.*\}$/s.test(received);
            // What follows a response that closes the connection is to be seen as well.
            if (isWhole) setTimeout(end, CLOSES.test(received) ? FOLLOWS_MS : 0);
          });
          socket.resume();
        });
      });
    }

    for (const bytes of [2 * MIB, LARGE_BYTES]) {
      it(`arrives at a client that sends ${bytes / MIB} MiB before it reads [H28]`, async () => {
        for (let round = 0; round < 5; round++) {
          const length = `Content-Length: ${bytes}`;
          const { received, error } = await sendUnheard([head(length), Buffer.alloc(bytes, " ")]);
          assertEquals([statusesOf(received), error], [[413], undefined], received);
          assertEquals(CLOSES.test(received), runtime !== "bun");
          assert(received.endsWith('expected at most 1048576 bytes"}'), received);
        }
      });
    }

    it("arrives where the body has no length, and where the client takes its time [H28]", async () => {
      const chunk = `100000\r\n${" ".repeat(MIB)}\r\n`;
      const chunked = head("Transfer-Encoding: chunked");
      const parts = [chunked, ...Array.from({ length: 8 }, () => chunk), "0\r\n\r\n"];
      const without = await sendUnheard(parts);
      assertEquals([statusesOf(without.received), without.error], [[413], undefined]);
      const third = Buffer.alloc(MIB, " ");
      const slow = await Promise.all([service.tokens.a, "x"].map((token) => {
        const length = head(`Content-Length: ${3 * MIB}`, token);
        return sendUnheard([length, third, third, third], PAUSES_MS);
      }));
      const seen = slow.map(({ received, error }) => [statusesOf(received), error]);
      assertEquals(seen, [[[413], undefined], [[401], undefined]]);
    });

    it("arrives where the token is rejected [H28]", async () => {
      const length = `Content-Length: ${LARGE_BYTES}`;
      const { received } = await sendUnheard([head(length, "x"), Buffer.alloc(LARGE_BYTES, " ")]);
      assertEquals(statusesOf(received), [401], received);
    });

    it("is seen by fetch, by Node's client and by curl [H28]", async () => {
      const body = " ".repeat(3 * MIB);
      const headers = {
        "authorization": `Bearer ${service.tokens.a}`,
        "content-type": "application/json",
      };
      const url = server.address + QUERY;
      const fetched = await fetch(url, { method: "POST", headers, body });
      assertEquals([fetched.status, (await fetched.json()).success], [413, false]);
      const asked = await new Promise((resolve, reject) => {
        const options = { method: "POST", headers: { ...headers, "content-length": body.length } };
        request(url, options, (response) => resolve(response.resume().statusCode))
          .on("error", reject).end(body);
      });
      assertEquals(asked, 413);
      // Without `Expect`, which would have it wait for the response.
      const curl = await runCurl(["-sS", "-X", "POST", "-H", "Expect:", url], headers, body);
      assertEquals(
        curl,
        '413 {"success":false,"error":"body: it is too large, expected at most ' +
          '1048576 bytes"}',
      );
    });

    it("is the last of its connection: what follows is no request [H28] [HT15]", async () => {
      const inner = `GET /integration/token HTTP/1.1\r\nHost: rowgate\r\n` +
        `Authorization: Bearer ${service.tokens.a}\r\n\r\n`;
      const body = Buffer.alloc(2 * MIB, " ");
      const { received } = await sendUnheard([head(`Content-Length: ${2 * MIB}`), body, inner]);
      // Bun keeps the connection.
      assertEquals(statusesOf(received)[0], 413);
      if (runtime !== "bun") assertEquals(statusesOf(received), [413], received);
    });

    /** Sends blocks with pauses until the server closes the connection; gives what it had sent by then. */
    function sendOn(first: string, block: string | Buffer, { pauseMs = 0, forMs = 30_000 } = {}) {
      const { hostname: host, port } = new URL(server.address);
      return new Promise<{ sent: number; closed: boolean; received: string }>((resolve) => {
        const socket = connect({ host, port: Number(port) });
        let [sent, received, closed] = [0, "", true];
        const timer = setTimeout(() => {
          closed = false;
          socket.destroy();
        }, forMs);
        socket.on("error", () => {});
        socket.on("data", (chunk) => received += chunk.toString("latin1"));
        socket.on("close", () => {
          clearTimeout(timer);
          resolve({ sent, closed, received });
        });
        const send = () => {
          socket.write(block, (error) => {
            if (error != null) return;
            sent += block.length;
            if (pauseMs === 0) send();
            else setTimeout(send, pauseMs);
          });
        };
        socket.on("connect", () => socket.write(first, send));
      });
    }

    it("keeps no connection of a client that sends without end [H28]", async () => {
      // Bun reads on, and gives no access to the connection.
      if (runtime === "bun") return;
      const block = Buffer.alloc(MIB, " ");
      const chunk = `100000\r\n${" ".repeat(MIB)}\r\n`;
      const length = `Content-Length: ${100_000 * MIB}`;
      const chunked = "Transfer-Encoding: chunked";
      const slowly = { pauseMs: 500 };
      const senders = (token?: string) => [
        sendOn(head(length, token), " ", slowly),
        sendOn(head(chunked, token), "1\r\n \r\n", slowly),
        sendOn(head(length, token), block),
        sendOn(head(chunked, token), chunk),
      ];
      const seen = await Promise.all([...senders(), ...senders("x")]);
      const buffers = await readBufferBytes();
      for (const { closed, sent } of seen) {
        assert(closed, `${sent / MIB} MiB`);
        assert(sent < 64 * MIB + buffers + UNCOUNTED_BYTES, `${sent / MIB} MiB`);
      }
      const slow = [...seen.slice(0, 2), ...seen.slice(4, 6)];
      // The second is over no limit but that of its time.
      assertEquals(slow.flatMap(({ received }) => statusesOf(received)), [413, 408, 401, 401]);
    });

    it("is that of the service, however long the body is to be [H28] [E14]", async () => {
      const { received } = await sendOn(head(`Content-Length: ${1000 * MIB}`), " ", {
        pauseMs: 100,
        forMs: 1000,
      });
      assertEquals(statusesOf(received), [413], received);
      assert(received.endsWith('expected at most 1048576 bytes"}'), received);
    });
  });
}

/** Reads how much the buffers of a socket hold at most, on both sides. */
async function readBufferBytes(): Promise<number> {
  const most = await Promise.all(["tcp_rmem", "tcp_wmem"].map(async (name) => {
    const text = await readFile(`/proc/sys/net/ipv4/${name}`, "utf8");
    return Number(text.trim().split(/\s+/).at(-1));
  }));
  return most[0]! + most[1]!;
}

/** Gives the status, a blank and the body of the response. */
function runCurl(
  parameters: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<string> {
  const named = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const child = spawn("curl", [
    ...["-o", "-", "-w", "%{stderr}%{http_code} ", "--data-binary", "@-"],
    ...[...named, ...parameters],
  ]);
  let [text, status] = ["", ""];
  child.stdout.on("data", (chunk) => text += chunk);
  child.stderr.on("data", (chunk) => status += chunk);
  child.stdin.on("error", () => {});
  child.stdin.end(body);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(status + text));
  });
}
