import type { Command } from "commander";
import type { Run } from "../subcommand.ts";
import { describeSettings } from "../settings_help.ts";
import type { Config } from "../../config/config.ts";
import { limitBunHeap } from "../../runtime/bun_heap.ts";
import type { Host } from "../../runtime/host.ts";
import { openSupervisorLink, type SupervisorLink } from "../../runtime/supervisor_link.ts";
import { assembleService, type Service } from "./service.ts";
import { printBanner } from "./first_start.ts";
import { countWorkers, divideLimits } from "../workers/divide_limits.ts";
import { listen } from "./listen.ts";
import { readSettings } from "../read_settings.ts";
import { explainFailure, FAILED } from "../stop.ts";
import { supervise } from "../workers/supervise.ts";
import { type Watch, watchProcess } from "./observe_process.ts";
import type { WorkerMessage } from "../workers/share_metrics.ts";

const EXAMPLE = `
Examples:
  rowgate serve                                              serves the demonstration
  DATABASE_URL=postgres://app:…@db/shop PORT=9000 rowgate serve
`;
const EXIT_CODES = `
Exit codes: 0 after SIGTERM or SIGINT, 1 when something failed or on a second signal, 2 when the
command line or the configuration is wrong.`;

/** Adds `rowgate serve`. @see R30 */
export function addServe(root: Command, run: Run): void {
  root.command("serve")
    .description("serve the tables of the configured database over HTTP")
    .addHelpText("after", `${EXAMPLE}\n${describeSettings()}${EXIT_CODES}`)
    .action(() => run(runServer));
}

/** The database has so long to let go of what is left, also when ROWGATE_SHUTDOWN_MS is over. */
const MIN_CLOSE_MS = 500;

/**
 * Serves until a signal comes, and gives the exit code.
 * @throws {Stop} when it can not start, or waiting for the database turns out to be useless
 * @see R40
 */
export async function runServer(host: Host): Promise<number> {
  limitBunHeap();
  const link = openSupervisorLink();
  const signal = awaitSignal(host, link);
  const settings = await readSettings(host);
  const watch = watchProcess(host, settings.config, link);
  const workers = countWorkers(settings.config);
  if (link === undefined && workers > 1) {
    const { config } = settings;
    return await supervise(host, { config, observe: watch.observe, signal, workers });
  }
  const config = link === undefined ? settings.config : divideLimits(settings.config, link);
  let service: Service | undefined;
  let closeMs = 0;
  try {
    service = await assembleService({ ...settings, config }, { ...watch, output: host.stderr });
    const endsAt = await serveUntil(signal, { host, config, watch, service, link });
    closeMs = Math.max(MIN_CLOSE_MS, endsAt - performance.now());
    return 0;
  } catch (error) {
    throw explainFailure(error);
  } finally {
    await service?.close(closeMs);
  }
}

interface Parts {
  readonly host: Host;
  readonly config: Config;
  readonly watch: Watch;
  readonly service: Service;
  readonly link: SupervisorLink | undefined;
}

/** Gives the time, of `performance.now()`, until which the process may live on. */
async function serveUntil(
  signal: Promise<string>,
  { host, config, watch: { observe }, service, link }: Parts,
): Promise<number> {
  let begin = () => {};
  const prepared = new Promise<void>((resolve) => begin = resolve);
  const served = await listen(service.app, { config, prepared, shared: link !== undefined });
  const tell = (message: WorkerMessage) => link?.send(message);

  async function prepare(): Promise<never> {
    const { demonstration, coming } = await service.prepare();
    if (stopping) return await never();
    begin();
    const { address } = served;
    // Of several only their supervisor says so, once for all.
    if (link === undefined) observe({ kind: "listening", address });
    else tell({ kind: "listening", address });
    if (config.databaseUrl === undefined) {
      host.stderr.write(printBanner({ address, config, demonstration }));
    }
    await coming;
    tell({ kind: "prepared" });
    return await never();
  }

  let stopMs = 0;
  let stopping = false;
  try {
    const told = await Promise.race([signal, prepare()]);
    stopping = true;
    observe({ kind: "stopping", signal: told });
    stopMs = config.shutdownMs;
    // Who waits for the start is answered by what there is.
    begin();
    return performance.now() + config.shutdownMs;
  } finally {
    await served.stop(stopMs);
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/**
 * Settles on the first signal, in a worker also when its supervisor lets it go; the second one ends
 * the process at once. A terminal sends signals to workers as well, who leave the second to their
 * supervisor.
 */
function awaitSignal(host: Host, link: SupervisorLink | undefined): Promise<string> {
  return new Promise((resolve) => {
    let told = false;
    host.onSignal((signal) => {
      if (told && link === undefined) void host.exit(FAILED);
      told = true;
      resolve(signal);
    });
    link?.onEnd(() => resolve("supervisor"));
  });
}
