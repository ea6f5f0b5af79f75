import type { Config } from "../../config/config.ts";
import { debounce } from "../../telemetry/debounce.ts";
import { createLog, type LogOptions } from "../../telemetry/log.ts";
import { createMetrics, type Metrics } from "../../telemetry/metrics.ts";
import type { Observe } from "../../telemetry/observe.ts";
import type { Host } from "../../runtime/host.ts";
import type { SupervisorLink } from "../../runtime/supervisor_link.ts";
import { shareMetrics } from "../workers/share_metrics.ts";
import { VERSION } from "../version.ts";

/** Who hears what happens in the process. */
export interface Watch {
  readonly metrics: Metrics;
  readonly observe: Observe;
}

/** Lets all that happens in the process be logged and counted, errors that nobody took included. */
export function watchProcess(host: Host, config: Config, link?: SupervisorLink): Watch {
  const { writeLine: write, isTerminal: human } = host.stdout;
  const { metrics, observe } = openWatch(config, { write, human, worker: link?.worker });
  // The driver can reject where nobody listens; the statement that suffers has its own deadline.
  host.onStrayError((error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
    observe({ kind: "failure", requestId: "-", code, where: "background" });
  });
  return { metrics: link === undefined ? metrics : shareMetrics(metrics, link), observe };
}

/** Opens the two sinks of what happens: log lines, and figures. */
export function openWatch(config: Config, lines: LogOptions): Watch {
  const metrics = createMetrics({ version: VERSION });
  const log = debounce(createLog(config.logLevel, lines));
  const observe: Observe = (observation) => {
    metrics.observe(observation);
    log(observation);
  };
  return { metrics, observe };
}
