import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { RUNTIMES, type RuntimeServer, startServer } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";
import { sendBytes, statusesOf } from "./send_bytes.ts";

const QUERY = "/integration/tables/guests/query";
const policyText = JSON.stringify(FIXTURE_POLICY);

let service: TestService;

beforeAll(async () => {
  service = await createTestService("real");
});
afterAll(() => service.close());

/** Text of a request, closing the connection after it. */
function write(head: string, headers: readonly string[] = [], body = ""): string {
  return [head, "Host: localhost", ...headers, "", body].join("\r\n");
}

/** With all that is percent-encoded as it is meant, however often it was encoded. */
function decode(text: string): string {
  const once = text.replace(
    /%([2-7][0-9A-Fa-f])/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
  return once === text ? text : decode(once);
}

function authorize(token: string): string {
  return `Authorization: Bearer ${token}`;
}

for (const runtime of RUNTIMES) {
  describe(`bytes on the wire to ${runtime}`, () => {
    let server: RuntimeServer;
    let log = "";
    const send = (text: string) => sendBytes(server.address, text);
    const json = (
      body: string,
    ) => ["Content-Type: application/json", `Content-Length: ${body.length}`];
    const CLOSE = "Connection: close";

    beforeAll(async () => {
      const environment = { DATABASE_URL: service.database.servingUrl!, TZ: "America/New_York" };
      server = await startServer(runtime, {
        environment,
        policyText,
        logged: (line) => log += line,
      });
    });
    afterAll(() => server.stop());

    it("rejects two Authorization headers, whichever is good [AU4]", async () => {
      const { a, b } = service.tokens;
      for (const [first, second] of [[a, b], [a, "x"], ["x", a], [a, a]] as const) {
        const headers = [authorize(first), authorize(second), CLOSE];
        assertEquals(statusesOf(await send(write("GET /integration/token HTTP/1.1", headers))), [
          401,
        ]);
      }
    });

    it("rejects TRACE, CONNECT and unknown or lower-case methods, and keeps serving [HT1] [HT5]", async () => {
      for (const method of ["TRACE", "CONNECT", "post", "Get", "FOO", "PROPFIND"]) {
        const received = await send(
          write(
            `${method} ${QUERY} HTTP/1.1`,
            [authorize(service.tokens.a), CLOSE, ...json("{}")],
            "{}",
          ),
        );
        for (const status of statusesOf(received)) {
          assert([400, 404, 405, 501].includes(status), received);
        }
        assert(!received.includes("Guest") && !received.includes(service.tokens.a), received);
      }
    });

    it("treats a path with a trailing slash as the same path, and no other spelling [HT6] [HT7]", async () => {
      const ask = async (path: string) => {
        const received = await send(
          write(`POST ${path} HTTP/1.1`, [authorize(service.tokens.a), CLOSE, ...json("{}")], "{}"),
        );
        return statusesOf(received)[0];
      };
      assertEquals(await ask(`${QUERY}/`), 200);
      for (const path of [`/${QUERY}`, QUERY.toUpperCase(), "/integration//tables/guests/query"]) {
        assertEquals(await ask(path), 404, path);
      }
      for (
        const path of [QUERY.replace("guests", "%67uests"), QUERY.replace("guests", "guests%00")]
      ) {
        assertEquals(await ask(path), 400, path);
      }
    });

    it("serves no path that is not in its canonical form [HT25]", async () => {
      const { a } = service.tokens;
      const ask = async (path: string) => {
        const received = await send(write(`GET ${path} HTTP/1.1`, [authorize(a), CLOSE]));
        return statusesOf(received)[0];
      };
      const [host, fields] = ["http://localhost", "/integration/tables/guests/fields"];
      for (
        const path of [
          "/metrics",
          "/metrics?a=/../b",
          "/metrics?\\",
          fields,
          `${fields}/`,
          "/",
          "/livez",
        ]
      ) {
        assertEquals(await ask(path), 200, path);
        assertEquals(await ask(host + path), 200, host + path);
      }
      const hidden = [
        ...[
          "/x/../metrics",
          "/%2e/metrics",
          "/%2E/metrics",
          "/./metrics",
          "/metrics\\",
          "/metrics/",
          "/livez/",
          "/readyz/?/integration/",
          "/openapi.json/",
          "/metrics/.",
        ],
        ...[
          "/x\\..\\metrics",
          "/x/%2e%2E/metrics",
          "/x/.%2e/metrics/",
          "//../metrics",
          "/metrics//",
        ],
        ...[
          "/x//../../metrics",
          "/a/b/c/d/e/f/g/h/i/../../../../../../../../../metrics",
          "//metrics",
        ],
        ...["/metrics#x", "/metrics/x/..", "/%5c../metrics", "/%6detrics", "/..", "/x/..", "/\\"],
        fields.replace("guests", "x\\..\\guests"),
        fields.replace("guests", "x/../guests"),
        fields.replace("guests", "./guests"),
      ];
      for (const path of hidden) {
        // Bun looks for the end of a host before it looks for a path.
        for (const target of [path, host + path]) {
          const status = await ask(target);
          assert(status === 404 || status === 400, `${target}: ${status}`);
        }
      }
      for (
        const target of ["http://x\\..\\metrics", "http://x\\metrics/", "http://x\\..\\metrics/"]
      ) {
        const received = await send(write(`GET ${target} HTTP/1.1`, [authorize(a), CLOSE]));
        // Bun takes all of it for the host.
        assert(!received.includes("rowgate_"), received);
      }
    });

    it("logs and returns no token of a path or an id [AU19]", async () => {
      const { a } = service.tokens;
      const secret = a.slice(15);
      const encoded = [...a].map((letter, n) => {
        const hex = letter.charCodeAt(0).toString(16);
        return n % 3 === 0 ? `%${hex}` : n % 3 === 1 ? `%25${hex.toUpperCase()}` : letter;
      }).join("");
      const sent = [
        ...[a, a.replaceAll("_", "%5F"), a.replace("_", "%5f"), encoded, a.slice(0, -10)],
        `${"x".repeat(140)}${a}`,
        `${"x".repeat(155)}${encoded}`,
      ];
      for (const text of sent) {
        for (const path of [`/${text}`, `/integration/tables/${text}/fields`, `/a/../${text}`]) {
          const received = await send(
            write(`GET ${path} HTTP/1.1`, [authorize(a), `X-Request-Id: ${a}`, CLOSE]),
          );
          assert([400, 404].includes(statusesOf(received)[0]!), received);
          assert(!decode(received).includes(secret.slice(0, 12)), received);
          assert(received.includes("-"), received);
        }
      }
      // Lines are written some milliseconds later.
      await send(write("GET /last HTTP/1.1", [CLOSE]));
      await waitUntil(() => Promise.resolve(log.includes('"/last"')));
      assertStringIncludes(log, '"path":"/rg_');
      assert(!decode(log).includes(secret.slice(0, 12)), log);
    });

    it("never reads one request with an ambiguous end as two [HT15]", async () => {
      const { a } = service.tokens;
      const inner = write("GET /integration/token HTTP/1.1", [authorize(a)]);
      const start = [
        `POST ${QUERY} HTTP/1.1`,
        "Host: localhost",
        authorize(a),
        "Content-Type: application/json",
      ];
      const doubtful = [
        [...start, "Content-Length: 5", "Transfer-Encoding: chunked", "", `0\r\n\r\n${inner}`],
        [...start, "Content-Length: 2", `Content-Length: ${2 + inner.length}`, "", `{}${inner}`],
        [...start, "Content-Length: 2, 40", "", `{}${inner}`],
        [...start, "Content-Length: +2", "", `{}${inner}`],
        [...start, "Content-Length: 0x2", "", `{}${inner}`],
        [...start, "Content-Length: -2", "", `{}${inner}`],
        [...start, "Transfer-Encoding: chunked, identity", "", `0\r\n\r\n${inner}`],
        [...start, "Transfer-Encoding: xchunked", "", `0\r\n\r\n${inner}`],
        [...start, "X-Folded: a", " b: c", "Content-Length: 2", "", `{}`],
        [...start, "X-Bare: a\rContent-Length: 2", "", `{}${inner}`],
        [...start, "Content-Length : 2", "", `{}${inner}`],
      ];
      for (const lines of doubtful) {
        const received = await send(lines.join("\r\n"));
        const statuses = statusesOf(received);
        assert(statuses.length <= 1, `${lines.slice(4).join(" | ")}: ${received}`);
        assert(!received.includes('"tenant"'), received);
      }
    });

    it("decides nothing by Host, nor by another host in the request line [HT16]", async () => {
      const end = `${authorize(service.tokens.a)}\r\n${CLOSE}\r\n\r\n`;
      const start = "GET /integration/token HTTP/1.1\r\n";
      const harmless = [
        `${start}Host: evil.example\r\n`,
        `${start}Host: localhost\r\nX-Forwarded-Host: evil.example\r\n`,
        "GET http://evil.example/integration/token HTTP/1.1\r\nHost: localhost\r\n",
        "GET /integration/token HTTP/1.0\r\n",
      ];
      for (const head of harmless) {
        const received = await send(head + end);
        assertEquals(statusesOf(received), [200], head);
        assert(!received.includes("evil"), received);
      }
      // Deno serves the one without a host.
      assert([200, 400].includes(statusesOf(await send(start + end))[0]!));
      for (const host of ["a b", "[::zz", "a:99999", "é", "#", "@", "a@b", "a,b"]) {
        assertEquals(statusesOf(await send(`${start}Host: ${host}\r\n${end}`)), [400], host);
      }
    });

    it("never lets Host change the path of the request [HT16]", async () => {
      const { a } = service.tokens;
      for (const host of ["x/metrics?", "x/livez#", "x/integration/token?", "x\\\\livez?"]) {
        const lines = ["GET /integration/tables HTTP/1.1", `Host: ${host}`, authorize(a), CLOSE];
        assertEquals(statusesOf(await send([...lines, "", ""].join("\r\n"))), [400], host);
      }
    });

    it("responds to pipelined requests in order, each by its own token, or none of them [HT17]", async () => {
      const { a, b } = service.tokens;
      const tokens = [a, b, "x", b, a];
      const body = '{"per_page":1,"sort":[{"field":"id"}]}';
      const requests = tokens.map((token, n) => {
        const more = n === tokens.length - 1 ? [CLOSE] : [];
        return write(`POST ${QUERY} HTTP/1.1`, [authorize(token), ...json(body), ...more], body);
      });
      const received = await send(requests.join(""));
      const ids = [...received.matchAll(/"tenant_id":(\d)/g)].map((match) => match[1]);
      // Bun closes a connection on which a second request comes before the response to the first.
      if (runtime === "bun") return void assertEquals([statusesOf(received), ids], [[], []]);
      assertEquals(statusesOf(received), [200, 200, 401, 200, 200]);
      assertEquals(ids, ["1", "2", "2", "1"]);
    });

    it("rejects an invalid token before a body that waits to be asked for [HT18]", async () => {
      const received = await send(
        write(`POST ${QUERY} HTTP/1.1`, [
          authorize("x"),
          "Expect: 100-continue",
          "Content-Type: application/json",
          "Content-Length: 1000000",
        ]),
      );
      assertEquals(statusesOf(received).filter((status) => status !== 100), [401]);
    });

    it("continues in HTTP/1.1 when HTTP/2 or a WebSocket is offered [HT20]", async () => {
      const { a } = service.tokens;
      const settings = ["HTTP2-Settings: AAMAAABkAAQAAP__"];
      for (
        const upgrade of [
          ["Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", ...settings],
          [
            "Connection: Upgrade, close",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          ],
        ]
      ) {
        const received = await send(
          write("GET /integration/token HTTP/1.1", [authorize(a), ...upgrade]),
        );
        const [status] = statusesOf(received);
        assert(status === 200 || status === 400, received);
      }
      await send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    });

    it("returns the same times in any time zone of the process [TV11]", async () => {
      const path = "/integration/tables/everything/query";
      const without = ["2026-01-31T12:34:56.000001", "2026-01-31 12:34:56.123456"];
      const bodies = [
        { sort: [{ field: "id" }] },
        ...without.map((value) => ({
          filters: { and: [{ field: "c_timestamptz", op: "eq", value }] },
        })),
        { filters: { or: [{ field: "c_timestamp", op: "gt", value: "2026-01-31 00:00:00" }] } },
      ];
      for (const body of bodies) {
        const init = {
          method: "POST",
          headers: {
            authorization: `Bearer ${service.tokens.a}`,
            "content-type": "application/json",
          },
          body: JSON.stringify(body),
        };
        const there = await fetch(server.address + path, init);
        const here = await service.send("POST", path, { body });
        assertEquals(await there.text(), here.text);
        assertStringIncludes(here.text, '"total":');
      }
    });

    it("still serves afterwards", async () => {
      const received = await send(write("GET /livez HTTP/1.1", [CLOSE]));
      assertEquals(statusesOf(received), [200]);
    });
  });
}
