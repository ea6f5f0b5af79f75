import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type Runtime, RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

const JSON_TYPE = { "content-type": "application/json" };
const DEALS = "/integration/tables/deals";
const ROLLED_BACK = { ...JSON_TYPE, prefer: "tx=rollback" };

/** Of each operation a response and a rejection, and what the runtimes' servers could meddle with. */
const REQUESTS: readonly (readonly [string, string, Record<string, string>, string?])[] = [
  ["GET", "/livez", {}],
  ["GET", "/readyz", {}],
  ["HEAD", "/livez", {}],
  ["OPTIONS", `${DEALS}/query`, {}],
  ["GET", "/", {}],
  ["GET", "/console/app.js", {}],
  ["GET", "/console/app.css", { "accept-encoding": "gzip" }],
  ["HEAD", "/console/app.js", {}],
  ["HEAD", "/console/app.css", {}],
  ["GET", "/nowhere?a=%zz", {}],
  ["GET", "/integration//tables", {}],
  ["GET", "/integration/token", {}],
  ["GET", "/integration/tables", {}],
  ["GET", `${DEALS}/fields`, {}],
  ["POST", `${DEALS}/query`, JSON_TYPE, "{}"],
  ["POST", `${DEALS}/query`, JSON_TYPE, '{"sort":[{"field":"fid"}],"per_page":3,"page":2}'],
  ["POST", `${DEALS}/query`, { "accept-encoding": "gzip", ...JSON_TYPE }, '{"select":["fid"]}'],
  ["POST", `${DEALS}/query`, JSON_TYPE, '{"filters":{"and":[{"field":"fid","op":"gt"}]},"x":1}'],
  ["POST", `${DEALS}/query`, JSON_TYPE, "{"],
  ["POST", `${DEALS}/query`, JSON_TYPE],
  ["POST", `${DEALS}/query`, { "content-type": "text/plain" }, "{}"],
  ["POST", "/integration/tables/user_passwords/query", JSON_TYPE, "{}"],
  ["POST", "/integration/tables/nothing/query", JSON_TYPE, "{}"],
  ["PUT", `${DEALS}/query`, JSON_TYPE, "{}"],
  ["PATCH", `${DEALS}/records/single`, ROLLED_BACK, '{"filters":{"fid":1},"fields":{"note":"x"}}'],
  ["PATCH", `${DEALS}/records/single`, JSON_TYPE, '{"filters":{"fid":-1},"fields":{"note":"x"}}'],
  [
    "PATCH",
    `${DEALS}/records/bulk`,
    ROLLED_BACK,
    '{"filters":{"fid":2},"fields":{"note":"é\\ud83d"}}',
  ],
  ["PATCH", `${DEALS}/records/bulk`, ROLLED_BACK, '{"filters":{"fid":2},"fields":{"note":"é😀"}}'],
  ["PATCH", `${DEALS}/records/single`, { ...JSON_TYPE, "if-range": "*", "range": "0-0" }, "{}"],
  ["PATCH", `${DEALS}/records/bulk?id=eq.5`, JSON_TYPE, "{}"],
  ["DELETE", `${DEALS}/records/single`, ROLLED_BACK, '{"filters":{"fid":1}}'],
  ["DELETE", `${DEALS}/records/bulk`, JSON_TYPE, '{"filters":{"fid":1}}'],
  ["POST", `${DEALS}/query`, { ...JSON_TYPE, "x-http-method-override": "DELETE" }, "{}"],
];
/** Other for each response, or added by the server below the handler. */
const OWN_HEADERS =
  /^(x-request-id|date|connection|keep-alive|transfer-encoding|content-length|vary|server)$/;

describe("Deno, Bun and Node", () => {
  let database: ServingDatabase;
  let token = "";
  const servers = new Map<Runtime, RunningProcess>();
  const addresses = new Map<Runtime, string>();

  before(async () => {
    database = await createServingDatabase();
    await database.admin.unsafe("grant delete on deals to rowgate_app");
    token = await database.issue({ scopes: ["query", "update", "delete"] });
    for (const runtime of RUNTIMES) {
      const settings = { DATABASE_URL: database.servingUrl, PORT: "0" };
      servers.set(runtime, startCommand(runtime, ["serve"], settings));
    }
    for (const [runtime, server] of servers) addresses.set(runtime, await awaitAddress(server));
  });
  after(async () => {
    for (const server of servers.values()) {
      server.send("SIGTERM");
      await server.ended;
    }
    await database.drop();
  });

  async function ask(runtime: Runtime, [method, path, given, body]: (typeof REQUESTS)[number]) {
    const headers = { authorization: `Bearer ${token}`, ...given };
    const response = await fetch(`${addresses.get(runtime)}${path}`, {
      method,
      headers,
      body: body ?? null,
    });
    const reported = [...response.headers].filter(([name]) => !OWN_HEADERS.test(name)).sort();
    return { status: response.status, body: await response.text(), headers: reported };
  }

  for (const request of REQUESTS) {
    const [method, path, , body = ""] = request;
    it(`are the same: ${method} ${path} ${body} [CF18]`, async () => {
      const first = await ask("deno", request);
      assertEquals(await ask("bun", request), first);
      assertEquals(await ask("node", request), first);
    });
  }
});
