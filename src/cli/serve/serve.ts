import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { describeSettings } from "../../config/settings.ts";
import { limitBunHeap } from "../../runtime/bun_heap.ts";
import type { Host } from "../../runtime/host.ts";
import type { Served } from "../../runtime/serve.ts";
import { openSupervisorLink, type SupervisorLink } from "../../runtime/supervisor_link.ts";
import { readSettings } from "../read_settings.ts";
import { explainFailure, FAILED } from "../stop.ts";
import type { Run } from "../subcommand.ts";
import { countWorkers, divideLimits } from "../workers/divide_limits.ts";
import { supervise } from "../workers/supervise.ts";
import { printBanner } from "./first_start.ts";
import { listen } from "./listen.ts";
import { observeProcess, type Telemetry } from "./observe_process.ts";
import { assembleService, type Service } from "./service.ts";

const EXAMPLES = `
Examples:
  rowgate serve                                                   Serve the demonstration
  DATABASE_URL=postgres://app:…@db/shop PORT=9000 rowgate serve   Serve your own database
`;
const EXIT_CODES = `
Exit codes: 0 after SIGTERM or SIGINT; 1 after a failure or a second signal; 2 when the command line
or the configuration is wrong.`;

/** Adds `rowgate serve`. @see R30 */
export function addServe(root: Command, run: Run): void {
  root.command("serve")
    .description("Serve the tables of the database over HTTP")
    .addHelpText("after", `${EXAMPLES}\n${describeSettings()}${EXIT_CODES}`)
    .action(() => run(serve));
}

/** Time that closing the database may take at least, even when ROWGATE_SHUTDOWN_MS is over. */
const MIN_CLOSE_MS = 500;

/**
 * Serves until a signal arrives, and gives the exit code. With several workers, this process
 * supervises them, and each of them runs this function too.
 * @throws {Stop} when the service cannot start, or waiting for the database is useless
 * @see R40
 */
async function serve(host: Host): Promise<number> {
  limitBunHeap();
  const supervisor = openSupervisorLink();
  const signal = awaitSignal(host, supervisor);
  const settings = await readSettings(host);
  const telemetry = observeProcess(host, settings.config, supervisor);
  const workers = countWorkers(settings.config);
  if (supervisor === undefined && workers > 1) {
    const { config } = settings;
    return await supervise(host, { config, observe: telemetry.observe, signal, workers });
  }
  const config = supervisor === undefined
    ? settings.config
    : divideLimits(settings.config, supervisor);
  let service: Service | undefined;
  let closeMs = 0;
  try {
    service = await assembleService({ ...settings, config }, { ...telemetry, output: host.stderr });
    const endMs = await serveUntil(signal, { host, config, telemetry, service, supervisor });
    closeMs = Math.max(MIN_CLOSE_MS, endMs - performance.now());
    return 0;
  } catch (error) {
    throw explainFailure(error);
  } finally {
    await service?.close(closeMs);
  }
}

interface ServeOptions {
  readonly host: Host;
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly service: Service;
  readonly supervisor: SupervisorLink | undefined;
}

/**
 * Listens, prepares the database, answers requests and stops on the signal. Gives the time, of
 * `performance.now()`, by which the process should have ended.
 */
async function serveUntil(
  signal: Promise<string>,
  { host, config, telemetry: { observe }, service, supervisor }: ServeOptions,
): Promise<number> {
  let openGate = () => {};
  const ready = new Promise<void>((resolve) => openGate = resolve);
  const server = await listen(service.app, { config, ready, shared: supervisor !== undefined });
  let stopping = false;
  let stopMs = 0;

  async function start(): Promise<string> {
    const { demonstration, databaseReady } = await service.prepare();
    if (stopping) return signal;
    openGate();
    announce(server);
    if (config.databaseUrl === undefined) {
      host.stderr.write(printBanner({ address: server.address, config, demonstration }));
    }
    await databaseReady;
    supervisor?.send({ kind: "prepared" });
    return signal;
  }

  function announce({ address }: Served): void {
    if (supervisor === undefined) observe({ kind: "listening", address });
    // The supervisor logs it, once for all workers.
    else supervisor.send({ kind: "listening", address });
  }

  try {
    const received = await Promise.race([signal, start()]);
    stopping = true;
    observe({ kind: "stopping", signal: received });
    // Requests that still wait for the start are answered with what there is.
    openGate();
    stopMs = config.shutdownMs;
    return performance.now() + stopMs;
  } finally {
    await server.stop(stopMs);
  }
}

/**
 * Settles on the first signal, in a worker also when the supervisor asks it to end or is gone. A
 * second signal ends the process at once, except in a worker: a terminal sends signals to workers as
 * well, and their supervisor decides.
 */
function awaitSignal(host: Host, supervisor: SupervisorLink | undefined): Promise<string> {
  return new Promise((resolve) => {
    let received = false;
    host.onSignal((signal) => {
      if (received && supervisor === undefined) void host.exit(FAILED);
      received = true;
      resolve(signal);
    });
    supervisor?.onEnd(() => resolve("supervisor"));
  });
}
