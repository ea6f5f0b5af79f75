import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { VERSION } from "../../../src/server/config/config.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { readMetrics } from "../../support/read_metrics.ts";

function open() {
  const clock = { now: 1000 };
  const metrics = createMetrics({ now: () => clock.now });
  const read = async () => readMetrics(await metrics.print()).samples;
  return { clock, observe: metrics.observe, read };
}

const REQUEST = {
  kind: "request",
  requestId: "r1",
  method: "GET",
  path: "/x",
  status: 200,
  durationMs: 30,
} as const;

describe("createMetrics", () => {
  it("shows the version before anything has happened [H17]", async () => {
    assertEquals((await open().read()).get(`rowgate_build_info{version="${VERSION}"}`), 1);
  });

  it("puts a request into the bucket of its time [H15]", async () => {
    const { observe, read } = open();
    observe({ ...REQUEST, operation: "query_records", rows: 7 });
    observe({ ...REQUEST, operation: "query_records", rows: 0 });
    const samples = await read();
    const bucket = (le: string) =>
      samples.get(
        `rowgate_request_duration_seconds_bucket{le="${le}",operation="query_records"}`,
      );
    assertEquals([bucket("0.025"), bucket("0.05"), bucket("Inf")], [0, 2, 2]);
    assertEquals(samples.get('rowgate_rows_total{operation="query_records"}'), 7);
  });

  it("counts retries and failures [H15]", async () => {
    const { observe, read } = open();
    observe({ kind: "fault", fault: "serialization" });
    observe({ kind: "retry", fault: "serialization" });
    observe({ kind: "failure", requestId: "r", code: "XX000", where: "query_records" });
    const samples = await read();
    assertEquals(samples.get('rowgate_database_faults_total{fault="serialization"}'), 1);
    assertEquals(samples.get('rowgate_database_retries_total{fault="serialization"}'), 1);
    assertEquals(samples.get('rowgate_failures_total{where="query_records"}'), 1);
  });

  it("counts the requests rejected by each limit [H15]", async () => {
    const { observe, read } = open();
    observe({ ...REQUEST, status: 429, limited: "token" });
    observe({ ...REQUEST, status: 200 });
    const samples = await read();
    assertEquals(samples.get('rowgate_rate_limited_total{limit="token"}'), 1);
  });

  it("shows the log of the changes feeds and those that wait [CH22]", async () => {
    const { observe, read } = open();
    observe({ kind: "changes_log", entries: 12, oldestSeconds: 3600, transactionSeconds: 90 });
    observe({ kind: "changes_waiting", clients: 3 });
    const samples = await read();
    assertEquals(
      ["entries", "oldest_seconds", "transaction_seconds", "waiting"].map((name) =>
        samples.get(`rowgate_changes_${name}`)
      ),
      [12, 3600, 90, 3],
    );
  });

  it("counts the attempts of webhooks by their result, and shows how many there are [WH26]", async () => {
    const { observe, read } = open();
    const sent = { webhookId: "wh_1", tenant: "1", table: "deals", host: "hooks.example.org" };
    const attempt = { kind: "webhook_sent", ...sent, messageId: "msg_1", durationMs: 30 } as const;
    observe({ ...attempt, result: "acknowledged", attempt: 2, error: undefined });
    observe({ ...attempt, result: "failed", attempt: 1, error: "status 500" });
    observe({
      kind: "webhook_disabled",
      webhookId: "wh_1",
      tenant: "1",
      reason: "it answered 410",
    });
    observe({ kind: "webhooks", enabled: 3, failing: 1, disabled: 2 });
    const samples = await read();
    const names = [
      'webhook_attempts_total{result="acknowledged"}',
      'webhook_attempts_total{result="failed"}',
      "webhook_attempt_seconds_count",
      "webhooks_disabled_total",
      'webhooks{state="failing"}',
      'webhooks{state="disabled"}',
    ];
    assertEquals(names.map((name) => samples.get(`rowgate_${name}`)), [1, 1, 2, 1, 1, 2]);
    assert([...samples.keys()].every((name) => !/wh_1|hooks\.example/.test(name)));
  });

  it("lets the catalogue grow older until it is read again [H15]", async () => {
    const { clock, observe, read } = open();
    const age = async () => (await read()).get("rowgate_catalogue_age_seconds");
    observe({ kind: "catalogue_read", reason: "start", ageMs: 500 });
    assertEquals(await age(), 0.5);
    clock.now += 40_000;
    observe({ kind: "catalogue_failed", code: "08006" });
    assertEquals(await age(), 40.5);
    observe({ kind: "catalogue_read", reason: "age", ageMs: 0 });
    assertEquals(await age(), 0);
    const reads = (await read()).get('rowgate_catalogue_reads_total{result="failed"}');
    assertEquals(reads, 1);
  });

  it("has as many series after 10,000 tenants, tables and tokens as after one [H15]", async () => {
    const { observe, read } = open();
    const ask = (i: number) =>
      observe({
        ...REQUEST,
        requestId: `r${i}`,
        path: `/p${i}`,
        operation: "query_records",
        table: `t${i}`,
        tokenId: `k${i}`,
        tenant: `n${i}`,
      });
    ask(0);
    const size = (await read()).size;
    for (let i = 1; i < 10_000; i++) ask(i);
    assertEquals((await read()).size, size);
    assert(size < 200, String(size));
  });
});
