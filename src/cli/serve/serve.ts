import type { Command } from "commander";
import type { Config } from "../../server/config/config.ts";
import { describeSettings } from "../../server/config/describe_settings.ts";
import { setBunVariables } from "../../server/runtime/bun.ts";
import type { Host } from "../../server/runtime/host.ts";
import type { Served } from "../../server/runtime/serve.ts";
import { openSupervisorLink, type SupervisorLink } from "../../server/runtime/workers.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { readSettings } from "../read_settings.ts";
import { explainFailure, FAILED } from "../stop.ts";
import type { RunWork } from "../subcommand.ts";
import { countWorkers, divideLimits } from "../workers/divide_limits.ts";
import { supervise } from "../workers/supervise.ts";
import { printBanner } from "./first_start.ts";
import { startListening } from "./listen.ts";
import { observeProcess } from "./observe_process.ts";
import { type AssembledService, assembleService } from "./service.ts";

const EXAMPLES = `
Examples:
  rowgate serve                                                   Serve the demonstration
  DATABASE_URL=postgres://app:…@db/shop PORT=9000 rowgate serve   Serve your own database
`;
const EXIT_CODES = `
Exit codes: 0 after SIGTERM or SIGINT; 1 after a failure or a second signal; 2 when the command line
or the configuration is wrong.`;

/** Adds `rowgate serve`. @see R30 */
export function addServe(root: Command, run: RunWork): void {
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
  setBunVariables();
  const supervisor = openSupervisorLink();
  const signal = awaitSignal(host, supervisor);
  const settings = await readSettings(host);
  const { metrics, observe } = observeProcess(host, settings.config, supervisor);
  const workers = countWorkers(settings.config);
  if (supervisor === undefined && workers > 1) {
    return await supervise(host, { config: settings.config, observe, signal, workers });
  }
  const config = supervisor === undefined
    ? settings.config
    : divideLimits(settings.config, supervisor);
  let service: AssembledService | undefined;
  let server: Served | undefined;
  const stopping = new AbortController();
  let exit = { stopMs: 0, closeMs: 0 };
  try {
    const output = host.stderr;
    service = await assembleService({ ...settings, config }, { metrics, observe, output });
    let letRequestsIn = () => {};
    const ready = new Promise<void>((resolve) => letRequestsIn = resolve);
    server = await startListening(service.app, { config, ready, shared: supervisor !== undefined });
    const parts = { host, config, observe, service, server, supervisor };
    const started = start({ ...parts, letRequestsIn, stopping: stopping.signal });
    // A start that fails ends this; one that succeeds leaves it to the signal.
    const received = await Promise.race([signal, started.then(() => signal)]);
    stopping.abort();
    observe({ kind: "stopping", signal: received });
    // Requests that still wait are let in, however far the start has come.
    letRequestsIn();
    service.announceEnd();
    // Streams of feeds go on meanwhile: their clients would come back to this instance.
    await new Promise((resolve) => setTimeout(resolve, config.drainMs));
    exit = { stopMs: config.shutdownMs, closeMs: MIN_CLOSE_MS };
    return 0;
  } catch (error) {
    throw explainFailure(error);
  } finally {
    const endMs = performance.now() + exit.stopMs;
    service?.drain();
    await server?.stop(exit.stopMs);
    await service?.close(Math.max(exit.closeMs, endMs - performance.now()));
  }
}

interface StartOptions {
  readonly host: Host;
  readonly config: Config;
  readonly observe: Observe;
  readonly service: AssembledService;
  readonly server: Served;
  readonly supervisor: SupervisorLink | undefined;
  readonly letRequestsIn: () => void;
  readonly stopping: AbortSignal;
}

/** Prepares the database, lets requests in and announces the address, unless a signal comes first. */
async function start(options: StartOptions): Promise<void> {
  const { host, config, observe, service, server, supervisor, letRequestsIn, stopping } = options;
  const { address } = server;
  const { demonstration, databaseReady } = await service.prepare();
  if (stopping.aborted) return;
  letRequestsIn();
  if (supervisor === undefined) observe({ kind: "listening", address });
  // The supervisor logs it, once for all workers.
  else supervisor.send({ kind: "listening", address });
  if (config.databaseUrl === undefined) {
    host.stderr.write(printBanner({ address, config, demonstration }));
  }
  await databaseReady;
  if (!stopping.aborted) supervisor?.send({ kind: "prepared" });
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
