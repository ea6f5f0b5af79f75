// The service behind a real nginx, as the page for operators configures it.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, afterAll, before, beforeAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { runRowgate } from "../integration/cli/run_rowgate.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { enableFeeds } from "../support/feeds.ts";
import { findNginx, type Nginx, startNginx } from "../support/nginx.ts";
import { readPages } from "../support/read_pages.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { waitUntil } from "../support/wait_until.ts";

const ROWS = 4000;
const TABLE = "/integration/tables/long_rows";
/** What nginx does by itself when it only passes requests on. */
const AS_IT_COMES = "server { listen 8080; location / { proxy_pass http://127.0.0.1:8000; } }";
const program = await findNginx();

async function readPage(): Promise<string> {
  const page = await readFile(new URL("../../docs/operators.md", import.meta.url), "utf8");
  return /```nginx\n(.*?)```/s.exec(page)![1]!;
}

if (program === undefined) console.log("nginx is not installed: nothing is tested behind it");
else {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase("real", "fixture", { served: true });
    await database.admin.unsafe(`
      create table long_rows (id int4 primary key, tenant_id int4 not null, name text, few bool);
      insert into long_rows
        select n, 1, n || repeat('€', 300), n <= 6 from generate_series(1, ${ROWS}) n;
      grant select, update on long_rows to rowgate_app`);
  });
  afterAll(() => database.drop());

  for (const runtime of RUNTIMES) {
    describe(`behind nginx, on ${runtime}`, () => {
      let service: TestService;
      let nginx: Nginx;
      let plain: Nginx;

      before(async () => {
        service = await createTestService("real", { runtime, database });
        await enableFeeds(service, ["long_rows"]);
        const { address } = service.server!;
        nginx = await startNginx(program, address, await readPage());
        plain = await startNginx(program, address, AS_IT_COMES);
        await waitUntil(async () => (await send(nginx, "GET", `${TABLE}/changes`)).status === 200);
      });
      after(async () => {
        await plain?.stop();
        await nginx?.stop();
        await service?.close();
      });

      const send = (
        { address }: Nginx,
        method: string,
        path: string,
        { body, headers = {}, signal }: {
          body?: unknown;
          headers?: Readonly<Record<string, string>>;
          signal?: AbortSignal;
        } = {},
      ) =>
        fetch(address + path, {
          method,
          signal,
          headers: {
            "authorization": `Bearer ${service.tokens.a}`,
            "content-type": "application/json",
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });

      it("an export is complete, and the command says so [EX26] [XA24]", async () => {
        const { code, out, err } = await runRowgate(
          ["export", "long_rows", "--url", nginx.address],
          { ROWGATE_TOKEN: service.tokens.a },
        );
        assertEquals([code, err, out.trimEnd().split("\n").length], [0, "", ROWS]);
      });

      it("an export is rejected where nginx speaks HTTP/1.0, with what to set [EX26] [XA24]", async () => {
        const response = await send(plain, "POST", `${TABLE}/query`, {
          body: {},
          headers: { accept: "text/csv" },
        });
        const { error } = await response.json();
        assertEquals(response.status, 400);
        assertMatch(error, /HTTP\/1\.0.*proxy_http_version 1\.1/);
      });

      it("pages whose tokens hold long values follow one another, with nginx's own buffers [L21]", async () => {
        const sort = [{ field: "name" }];
        for (const proxy of [nginx, plain]) {
          const rows = await readPages(
            async (method, path, { body, headers } = {}) => {
              const response = await send(proxy, method, path, { body, headers });
              const text = await response.text();
              const { status, headers: received } = response;
              return { status, headers: received, text, body: JSON.parse(text) };
            },
            {
              table: "long_rows",
              body: {
                filters: { and: [{ field: "few", op: "eq", value: true }] },
                sort,
                per_page: 2,
              },
            },
          );
          assertEquals(rows.length, 6);
        }
      });

      it("a stream gives each change when it is made, and ends with its client [CH16]", async () => {
        const leaving = new AbortController();
        const response = await send(nginx, "GET", `${TABLE}/changes`, {
          headers: { accept: "text/event-stream" },
          signal: leaving.signal,
        });
        assertEquals(response.status, 200);
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (const [name, id] of [["one", 1], ["two", 2]] as const) {
          const written = await send(nginx, "PATCH", `${TABLE}/records/single`, {
            body: { filters: { id }, fields: { name } },
          });
          assertEquals(written.status, 200, await written.text());
          while (!text.includes(`"${name}"`)) text += (await reader.read()).value ?? "";
        }
        leaving.abort();
        const running = /^rowgate_changes_waiting 0$/m;
        await waitUntil(async () => running.test((await service.send("GET", "/metrics")).text));
      });

      it("metrics are kept from clients", async () => {
        const response = await fetch(`${nginx.address}/metrics`);
        await response.body?.cancel();
        assertEquals(response.status, 403);
        assert((await service.send("GET", "/metrics")).status === 200);
      });
    });
  }
}
