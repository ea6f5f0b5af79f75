import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { openRawClient, type RawClient } from "../../support/raw_client.ts";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";

const QUERY = "/integration/tables/guests/query";
const MIB = 1_048_576;
const REQUEST_TIMEOUT_MS = 2000;
const STATUS = /^HTTP\/1\.1 (\d{3})/;

for (const runtime of RUNTIMES) {
  describe(`the network against ${runtime}`, () => {
    let service: TestService;
    const address = () => service.server!.address;

    beforeAll(async () => {
      service = await createTestService("real", {
        runtime,
        environment: { ROWGATE_REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) },
      });
    });
    afterAll(() => service.close());

    function head(more: string, token = service.tokens.a): string {
      return `POST ${QUERY} HTTP/1.1\r\nHost: rowgate\r\nContent-Type: application/json\r\n` +
        `Authorization: Bearer ${token}\r\n${more}\r\n`;
    }

    async function withClient<T>(use: (client: RawClient) => Promise<T>): Promise<T> {
      const client = await openRawClient(address());
      try {
        return await use(client);
      } finally {
        client.close();
      }
    }

    async function assertServing(): Promise<void> {
      const response = await service.send("POST", QUERY, { body: {} });
      assertEquals(response.status, 200, response.text);
    }

    it("takes a body of 1 MiB, and rejects one byte more by its length, unread [RE1] [RE3]", async () => {
      const response = await service.send("POST", QUERY, { raw: "{}".padEnd(MIB) });
      assertEquals(response.status, 200);
      for (const length of [MIB + 1, 3 * MIB]) {
        await withClient(async (client) => {
          client.send(head(`Content-Length: ${length}\r\n`) + "{".padEnd(1024));
          assertEquals(STATUS.exec(await client.read(STATUS))?.[1], "413");
        });
      }
    });

    it("rejects a stream without a length at 1 MiB [RE2]", async () => {
      await withClient(async (client) => {
        client.send(head("Transfer-Encoding: chunked\r\n"));
        const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
        for (let sent = 0; sent <= 17; sent++) client.send(chunk);
        assertEquals(STATUS.exec(await client.read(STATUS))?.[1], "413");
      });
    });

    it("rejects a body that stops in the middle with 408, and frees its place [RE4]", async () => {
      await withClient(async (client) => {
        client.send(head("Content-Length: 10\r\n") + "{}");
        assertEquals(STATUS.exec(await client.read(STATUS))?.[1], "408");
      });
      const { text } = await service.send("GET", "/metrics");
      assertMatch(text, /^rowgate_requests_in_flight 1$/m);
    });

    it("answers a head that does not arrive with 408 on Node; Deno and Bun have no way to [R17]", async () => {
      await withClient(async (client) => {
        const whole = head("Content-Length: 2\r\n") + "{}";
        client.send(whole.slice(0, 30));
        if (runtime === "node") {
          assertEquals(STATUS.exec(await client.read(STATUS))?.[1], "408");
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 2000));
        client.send(whole.slice(30));
        assertEquals(STATUS.exec(await client.read(STATUS))?.[1], "200");
      });
    });

    it("rejects compressed bodies with 415, takes identity [RE7]", async () => {
      for (const encoding of ["gzip", "br", "deflate", "identity"]) {
        const headers = { "content-encoding": encoding };
        const { status } = await service.send("POST", QUERY, { raw: "{}", headers });
        assertEquals(status, encoding === "identity" ? 200 : 415);
      }
    });

    it("survives an endless URL, a thousand headers, a huge header [RE17]", async () => {
      const line = (path: string, more: string) => `GET ${path} HTTP/1.1\r\nHost: r\r\n${more}\r\n`;
      const thousand = Array.from({ length: 1000 }, (_, n) => `X-${n}: ${n}\r\n`).join("");
      const requests = [
        line(`/${"u".repeat(100_000)}`, ""),
        line("/livez", thousand),
        line("/livez", `X-Huge: ${"h".repeat(65_536)}\r\n`),
        line("/livez", `Authorization: Bearer ${"t".repeat(60_000)}\r\n`),
      ];
      for (const request of requests) {
        await withClient(async (client) => {
          client.send(request);
          const status = STATUS.exec(await client.read(/\r\n\r\n/))?.[1];
          // Bun and Deno take a few of them; to close without a word is a rejection too.
          assert(/^(undefined|200|400|404|414|431)$/.test(String(status)), status);
          await assertServing();
        });
      }
    });

    it("sends a long response as one, with its length", async () => {
      const name = '€😀"'.repeat(20_000);
      await service.database.admin`insert into guests values (900, 1, ${name})`;
      const body = '{"filters":{"and":[{"field":"id","op":"eq","value":900}]}}';
      const request = head(`Content-Length: ${body.length}\r\n`) + body;
      for (let round = 0; round < 10; round++) {
        const { first, whole } = await receive(request);
        // What comes in pieces wakes the client for each.
        assert(first.includes("\r\n\r\n"), first);
        const [headers = "", text = ""] = whole.split("\r\n\r\n");
        assertMatch(
          headers,
          new RegExp(`content-length: ${Buffer.byteLength(text)}(\r|$)`, "i"),
        );
        assertEquals(JSON.parse(text).records[0].name, name);
      }
      await service.database.admin`delete from guests where id = 900`;
    });

    it("responds to pipelined requests in order, each as its own tenant [HT17]", async () => {
      const { a, b } = service.tokens;
      const body = '{"select":["tenant_id"],"per_page":1}';
      const requests = [a, b, a, "rg_bogus", b].map((token, index) =>
        head(`X-Request-Id: piped-${index}\r\nContent-Length: ${body.length}\r\n`, token) + body
      );
      await withClient(async (client) => {
        client.send(requests.join(""));
        const responses = (await client.read(/piped-4[\s\S]*records.*\}$/)).split("HTTP/1.1 ")
          .slice(
            1,
          );
        const received = responses.map((text) => [
          text.slice(0, 3),
          /x-request-id: (\S+)/i.exec(text)?.[1],
          /"tenant_id":(\d)/.exec(text)?.[1],
        ]);
        const expected = [
          ["200", "piped-0", "1"],
          ["200", "piped-1", "2"],
          ["200", "piped-2", "1"],
          ["401", "piped-3", undefined],
          ["200", "piped-4", "2"],
        ];
        // Bun closes a connection on which a request comes before its turn.
        assertEquals(received, runtime === "bun" ? expected.slice(0, received.length) : expected);
      });
    });

    it("serves others beside 500 connections that send a byte now and then [RE5]", async () => {
      const clients = await openMany(500);
      const body = head("Content-Length: 100\r\n");
      clients.forEach((client, index) => client.send(index % 2 === 0 ? body : body.slice(0, 20)));
      for (let round = 0; round < 10; round++) {
        clients.forEach((client) => client.send(" "));
        await assertServing();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const late = await Promise.all(
        clients.filter((_, index) => index % 2 === 0).map((client) => client.read(STATUS)),
      );
      assertEquals(new Set(late.map((text) => STATUS.exec(text)?.[1])), new Set(["408"]));
      for (const client of clients) client.close();
      await assertServing();
    });

    it("serves new requests beside 10,000 idle connections, in bounded memory [RE6]", async () => {
      const before = await readMemoryMiB(service.server!.pid);
      const clients = await openMany(10_000);
      for (let round = 0; round < 5; round++) await assertServing();
      const grownMiB = await readMemoryMiB(service.server!.pid) - before;
      for (const client of clients) client.close();
      assert(clients.length === 10_000 && grownMiB < 500, `grew by ${grownMiB} MiB`);
      await assertServing();
    });

    /** Returns the first of a response that comes, and all of it. */
    async function receive(request: string): Promise<{ first: string; whole: string }> {
      const { hostname, port } = new URL(address());
      const socket = connect(Number(port), hostname);
      const chunks: Buffer[] = [];
      try {
        socket.write(request);
        for await (const chunk of socket) {
          chunks.push(chunk);
          if (chunk.at(-1) === "}".charCodeAt(0)) break;
        }
      } finally {
        socket.destroy();
      }
      return { first: String(chunks[0]), whole: Buffer.concat(chunks).toString() };
    }

    /** So many connections, by a hundred at a time, from several addresses: ports are few. */
    async function openMany(count: number): Promise<RawClient[]> {
      const clients: RawClient[] = [];
      while (clients.length < count) {
        const source = `127.0.0.${2 + Math.floor(clients.length / 5000)}`;
        const opening = Array.from(
          { length: Math.min(100, count - clients.length) },
          () => openRawClient(address(), source),
        );
        clients.push(...await Promise.all(opening));
      }
      return clients;
    }
  });
}

async function readMemoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}
