import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import manifest from "../../package.json" with { type: "json" };
import { readMetrics } from "../support/read_metrics.ts";
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

describeService("HTTP, metrics", ({ query, single, get, kind, service }) => {
  const read = async () => readMetrics((await get("/metrics", { token: null })).text).samples;
  /** What a request adds to a metric. */
  async function growth(name: string, request: () => Promise<unknown>): Promise<number> {
    const before = (await read()).get(name) ?? 0;
    await request();
    return ((await read()).get(name) ?? 0) - before;
  }

  it("responds with Prometheus text without a token [H15]", async () => {
    const response = await get("/metrics", { token: null });
    assertEquals(response.status, 200);
    assertMatch(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    assertEquals(response.headers.get("cache-control"), "no-store");
    assert(response.headers.has("x-request-id"));
    const { names, samples } = readMetrics(response.text);
    assert(names.size >= 18, String(names.size));
    assert([...names].every((name) => name.startsWith("rowgate_")));
    assert([...samples.values()].every(Number.isFinite));
  });

  it("reports the version [H17]", async () => {
    assertEquals((await read()).get(`rowgate_build_info{version="${manifest.version}"}`), 1);
  });

  it("responds to HEAD without a body, and 405 to what changes something [H15]", async () => {
    const head = await service().send("HEAD", "/metrics", { token: null });
    assertEquals([head.status, head.text], [200, ""]);
    const response = await service().send("POST", "/metrics", { body: {} });
    assertRejected(response, 405);
    assertEquals(response.headers.get("allow"), "GET, HEAD, OPTIONS");
  });

  it("counts requests by operation and status, their time and rows [H15]", async () => {
    const ok = 'rowgate_requests_total{operation="query_records",status="200"}';
    assertEquals(await growth(ok, () => query("guests")), 1);
    const rejected = 'rowgate_requests_total{operation="query_records",status="404"}';
    assertEquals(await growth(rejected, () => query("nothing")), 1);
    const unknown = 'rowgate_requests_total{operation="none",status="404"}';
    assertEquals(await growth(unknown, () => get("/nowhere")), 1);
    const unauthenticated = 'rowgate_requests_total{operation="list_tables",status="401"}';
    const ask = () => get("/integration/tables", { token: null });
    assertEquals(await growth(unauthenticated, ask), 1);
    const timed = 'rowgate_request_duration_seconds_count{operation="query_records"}';
    assertEquals(await growth(timed, () => query("guests")), 1);
    const rows = 'rowgate_rows_total{operation="query_records"}';
    assertEquals(await growth(rows, async () => assertOk(await query("guests"))), 5);
  });

  it("counts itself as the one in flight [H15]", async () => {
    assertEquals((await read()).get("rowgate_requests_in_flight"), 1);
  });

  it("counts the sessions of the pools that are in use, and the time waited for them [H15]", async () => {
    const admitted = 'rowgate_pool_wait_seconds_count{pool="statements"}';
    const flood = () => Promise.all(Array.from({ length: 20 }, () => query("guests")));
    assert(await growth(admitted, flood) >= 20);
    const samples = await read();
    const size = samples.get('rowgate_pool_size{pool="statements"}');
    assertEquals(size, kind === "embedded" ? 1 : 4);
    assertEquals(
      samples.get('rowgate_pool_size{pool="transactions"}'),
      kind === "embedded" ? 1 : 3,
    );
    assertEquals(samples.get('rowgate_pool_in_use{pool="statements"}'), 0);
    assertEquals(samples.get('rowgate_pool_waiting{pool="statements"}'), 0);
  });

  it("reports prepared statements, and a shape counts once [H15]", async () => {
    const seen: string[] = [];
    for (const fields of [["name", "id"], ["id", "name"], ["name"], ["id"]]) {
      const sort = fields.map((field) => ({ field, direction: "desc" }));
      const ask = async () => assertOk(await query("guests", { sort, per_page: 3 }));
      const growths = [];
      for (let time = 0; time < 3; time++) {
        growths.push(await growth("rowgate_prepared_statements", ask));
      }
      seen.push(growths.join(" "));
    }
    // A shape is prepared when it is sent again. Beside one of them the service may look a token up, or
    // the catalogue, for the second time.
    assert(seen.includes("0 1 0"), seen.join(", "));
    assert(seen.filter((growths) => growths !== "0 1 0").length <= 2, seen.join(", "));
  });

  it("reports the age and size of the catalogue, and how often it was read [H15]", async () => {
    await query("guests");
    const samples = await read();
    const age = samples.get("rowgate_catalogue_age_seconds") ?? -1;
    assert(age > 0 && age < 60, String(age));
    assert((samples.get("rowgate_catalogue_tables") ?? 0) > 10);
    assert((samples.get('rowgate_catalogue_reads_total{result="read"}') ?? 0) >= 1);
  });

  it("counts look-ups of tokens [H15]", async () => {
    const lookups = (result: string) => `rowgate_token_lookups_total{result="${result}"}`;
    const token = await service().issue({ tenant: "1" });
    const ask = (text = token) => () => get("/integration/token", { token: text });
    assertEquals(await growth(lookups("miss"), ask()), 1);
    assertEquals(await growth(lookups("hit"), ask()), 1);
    assertEquals(await growth(lookups("malformed"), ask("rg_x")), 1);
  });

  it("counts faults of the database by kind [H15]", async () => {
    const faults = 'rowgate_database_faults_total{fault="value"}';
    const body = { filters: { id: 2 }, fields: { c_tsquery: "a &" } };
    assert(
      await growth(faults, async () => assertRejected(await single("everything", body), 400)) >= 1,
    );
  });

  it("holds no tenant, token, table, path or value in any label [H15]", async () => {
    const token = await service().issue({ tenant: "1" });
    const filters = { and: [{ field: "title", op: "eq", value: "PRIVATE-VALUE" }] };
    await query("deals", { filters }, { token });
    await query("deals", { filters }, { token: "rg_PRIVATE" });
    await query("PRIVATE_TABLE");
    await get("/PRIVATE/PATH?PRIVATE=1");
    await service().send("DELETE", "/metrics?PRIVATE");
    const { text } = await get("/metrics");
    const secrets = ["PRIVATE", "deals", "guests", "tenant", token, token.split("_")[1]!];
    for (const secret of secrets) assert(!text.includes(secret), secret);
  });

  it("logs the trace id of a well-formed traceparent, and sends none back [H24]", async () => {
    const ask = (traceparent: string) => query("guests", {}, { headers: { traceparent } });
    const response = await ask(`00-${TRACE}-b7ad6b7169203331-01`);
    assertOk(response);
    assert(!JSON.stringify([...response.headers]).includes(TRACE));
    await ask(`00-${TRACE}-0000000000000000-01`);
    if (IS_REMOTE) return;
    const reported = service().observations.filter(({ kind }) => kind === "request").slice(-2);
    assertEquals(reported.map((item) => "traceId" in item ? item.traceId : ""), [TRACE, undefined]);
  });

  it("reports each request once: tenant, operation, duration, rows [R47]", async () => {
    assertOk(await query("guests", {}, { headers: { "x-request-id": "watched" } }));
    if (IS_REMOTE) return;
    const reported = service().observations.filter((item) =>
      item.kind === "request" && item.requestId === "watched"
    );
    assertEquals(reported.length, 1);
    const { durationMs, tokenId, ...rest } = JSON.parse(JSON.stringify(reported[0]));
    assert(typeof durationMs === "number" && durationMs > 0);
    assertEquals(tokenId, service().tokens.a.split("_")[1]);
    assertEquals(rest, {
      kind: "request",
      requestId: "watched",
      method: "POST",
      path: "/integration/tables/guests/query",
      status: 200,
      operation: "query_records",
      table: "guests",
      tenant: "1",
      rows: 5,
    });
  });
});
