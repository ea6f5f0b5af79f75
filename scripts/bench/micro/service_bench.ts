/**
 * What every request costs without network and database: `deno task bench:micro`. The database answers
 * at once with the row of the last statement; everything else is the whole service.
 */
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { createApp } from "../../../src/app.ts";
import type { CurrentCatalogue } from "../../../src/catalogue/current_catalogue.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { Statements } from "../../../src/database/postgres/statements.ts";
import { respond } from "../../../src/http/respond.ts";
import { createLog } from "../../../src/server/telemetry/log.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { checkToken, digest, mintToken } from "../../../src/access/tokens/token_text.ts";
import { makeColumn, makeTable } from "../../../test/support/table.ts";
import { SENDING } from "../../../test/support/sending.ts";

const RECORD = JSON.stringify({
  id: "bench",
  name: null,
  tenant: "1",
  scopes: ["query"],
  tables: null,
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: null,
  revoked_at: null,
  replaces: null,
  remaining_ms: null,
});
const { token } = mintToken();
/** The answer to every statement: that of a look-up of the token, and that of a query. */
const ROW = {
  digest: digest(token),
  record: RECORD,
  total: "1",
  rows: "1",
  records: '[{"id":7,"status":"open"}]',
};
const REQUEST: Observation = {
  kind: "request",
  requestId: crypto.randomUUID(),
  method: "POST",
  path: "/integration/tables/deals/query",
  status: 200,
  durationMs: 1.234,
  operation: "query_records",
  table: "deals",
  tokenId: "bench",
  tenant: "1",
  rows: 1,
};

const cache = new Statements();
/** Takes the place of the driver, which is not measured. */
const tag = (() => ({})) as unknown as Sql;

/** Compiles as the real one does; its answer is ready. */
const database = {
  run: (compile: (sql: Sql) => never) => {
    cache.compile(tag, compile);
    return Promise.resolve([ROW]);
  },
} as unknown as Database;
const table = makeTable([makeColumn("status", "text")]);
const current = { tables: new Map([["deals", table]]), credentialTables: new Set() };
const catalogue = { current: () => Promise.resolve(current) } as unknown as CurrentCatalogue;
const metrics = createMetrics();
const log = createLog("info", { write() {}, human: false });
const observe = (observation: Observation) => {
  metrics.observe(observation);
  log(observation);
};
const tokens = createTokenStore(database, { observe });
const { config } = readConfig({});
const app = createApp({ config: config!, database, catalogue, tokens, observe, metrics });

const body = JSON.stringify({ filters: { and: [{ field: "id", op: "eq", value: 7 }] } });
const headers = {
  "authorization": `Bearer ${token}`,
  "content-type": "application/json",
  "content-length": String(body.length),
};
const url = "http://127.0.0.1:8080/integration/tables/deals/query";
const make = () => new Request(url, { method: "POST", headers, body });
const answered = await app(make());
if (answered.status !== 200) throw new Error(await answered.text());

const exchange = {
  request: make(),
  requestId: REQUEST.requestId,
  corsOrigins: [],
  headers: {},
  sending: SENDING,
};
Deno.bench("the handler, one row by key", async () => void await app(make()));
Deno.bench("a Request, made for it", () => void make());
Deno.bench("token, known", async () => void await tokens.find(token));
Deno.bench("token, new: checksum and digest", () => {
  checkToken(token);
  digest(token);
});
Deno.bench("log line", () => log(REQUEST));
Deno.bench("metrics of a request", () => metrics.observe(REQUEST));
Deno.bench("response", () => void respond({ status: 200, json: ROW.records }, exchange));
