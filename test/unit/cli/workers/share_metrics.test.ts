import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  createMetricsCollector,
  type SupervisorMessage,
} from "../../../../src/cli/workers/share_metrics.ts";
import { createMetrics } from "../../../../src/server/telemetry/metrics.ts";
import { VERSION } from "../../../../src/server/config/config.ts";
import type { WorkerProcess } from "../../../../src/server/runtime/workers.ts";
import { readMetrics } from "../../../support/read_metrics.ts";

describe("the metrics of several workers", () => {
  const collector = createMetricsCollector();

  function openWorker() {
    const metrics = createMetrics();
    let stuck = false;
    const process: WorkerProcess = {
      pid: 1,
      ended: new Promise(() => {}),
      stop() {},
      kill() {},
      send(message) {
        const { id } = message as SupervisorMessage;
        // As JSON, as the channel between processes sends it.
        const take = (text: string) => collector.receive(id, JSON.parse(text));
        if (!stuck) void metrics.collect().then((values) => take(JSON.stringify(values)));
      },
    };
    return { process, observe: metrics.observe, stick: () => stuck = true };
  }

  function serve({ observe }: ReturnType<typeof openWorker>, durationMs: number): void {
    observe({
      kind: "request",
      requestId: "r",
      method: "GET",
      path: "/livez",
      status: 200,
      durationMs,
      operation: "livez",
    });
  }

  it("are added up; gauges that all share are not, and counters never fall", async () => {
    const [first, second] = [openWorker(), openWorker()];
    const ask = async (...workers: (typeof first)[]) => {
      const text = await collector.print(workers.map(({ process }) => process));
      const { samples } = readMetrics(text);
      return {
        requests: samples.get('rowgate_requests_total{operation="livez",status="200"}'),
        quick: samples.get(
          'rowgate_request_duration_seconds_bucket{le="0.005",operation="livez"}',
        ),
        seconds: samples.get('rowgate_request_duration_seconds_sum{operation="livez"}'),
        tables: samples.get("rowgate_catalogue_tables"),
        size: samples.get('rowgate_pool_size{pool="statements"}'),
        build: samples.get(`rowgate_build_info{version="${VERSION}"}`),
      };
    };
    for (const { observe } of [first, second]) {
      observe({ kind: "catalogue", tables: 7, reason: "start" });
      observe({ kind: "pool", pool: "statements", size: 5, inUse: 0, waiting: 0 });
    }
    serve(first, 2);
    serve(first, 250);
    serve(second, 4);
    const both = { requests: 3, quick: 2, seconds: 0.256, tables: 7, size: 10, build: 1 };
    assertEquals(await ask(first, second), both);

    serve(second, 4);
    second.stick();
    assertEquals(await ask(first, second), { ...both, size: 5 });
    collector.retire(second.process);
    collector.retire(openWorker().process);
    serve(first, 0);
    assertEquals(await ask(first), { ...both, requests: 4, quick: 3, size: 5 });
  });
});
