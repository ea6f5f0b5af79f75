import type { Config } from "../../server/config/config.ts";
import type { Host } from "../../server/runtime/host.ts";
import { debounce } from "../../server/telemetry/debounce.ts";
import { createLog, type LogOptions } from "../../server/telemetry/log.ts";
import { createMetrics, type Metrics } from "../../server/telemetry/metrics.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { shareMetrics, type SupervisorChannel } from "../workers/share_metrics.ts";

/** The sinks of what happens: `observe` writes the log and counts the metrics. */
export interface Telemetry {
  readonly metrics: Metrics;
  readonly observe: Observe;
}

/** Opens the sinks of a process, which also take its uncaught errors. */
export function observeProcess(
  host: Host,
  config: Config,
  supervisor: SupervisorChannel | undefined,
): Telemetry {
  const { writeLine: write, isTerminal: human } = host.stdout;
  const { metrics, observe } = createTelemetry(config, {
    write,
    human,
    worker: supervisor?.worker,
  });
  // The driver can reject promises that nothing awaits; the statement concerned has its own deadline.
  host.onStrayError((error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
    observe({ kind: "failure", requestId: "-", code, where: "background" });
  });
  return {
    metrics: supervisor === undefined ? metrics : shareMetrics(metrics, supervisor),
    observe,
  };
}

/** Opens the log and the metrics. */
export function createTelemetry(config: Config, logOptions: LogOptions): Telemetry {
  const metrics = createMetrics();
  const log = debounce(createLog(config.logLevel, logOptions));
  const observe: Observe = (observation) => {
    metrics.observe(observation);
    log(observation);
  };
  return { metrics, observe };
}
