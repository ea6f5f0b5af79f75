import type { Config } from "../config.ts";
import type { Host } from "../runtime/host.ts";
import { assembleService, type Service } from "./assemble_service.ts";
import { printBanner } from "./banner.ts";
import { listen } from "./listen.ts";
import { readSettings } from "./read_settings.ts";
import { explainFailure, FAILED } from "./stop.ts";
import { type Watch, watchProcess } from "./watch_process.ts";

/** The database has so long to let go of what is left, also when ROWGATE_SHUTDOWN_MS is over. */
const MIN_CLOSE_MS = 500;

/**
 * Serves until a signal comes, and gives the exit code.
 * @throws {Stop} when it can not start, or waiting for the database turns out to be useless
 * @see DECISIONS 9
 */
export async function runServer(host: Host): Promise<number> {
  const signal = awaitSignal(host);
  const settings = await readSettings(host);
  const { config } = settings;
  const watch = watchProcess(host, config);
  let service: Service | undefined;
  let closeMs = 0;
  try {
    service = await assembleService(settings, { ...watch, output: host.stderr });
    const endsAt = await serveUntil(signal, { host, config, watch, service });
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
}

/** Gives the time, of `performance.now()`, until which the process may live on. */
async function serveUntil(
  signal: Promise<string>,
  { host, config, watch: { observe }, service }: Parts,
): Promise<number> {
  let begin = () => {};
  const prepared = new Promise<void>((resolve) => begin = resolve);
  const served = await listen(service.app, { config, prepared });

  async function prepare(): Promise<never> {
    const { demonstration, coming } = await service.prepare();
    if (stopping) return await never();
    begin();
    const { address } = served;
    observe({ kind: "listening", address });
    if (config.databaseUrl === undefined) {
      host.stderr.write(printBanner({ address, config, demonstration }));
    }
    await coming;
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

/** Settles on the first signal; the second one ends the process at once. */
function awaitSignal(host: Host): Promise<string> {
  return new Promise((resolve) => {
    let told = false;
    host.onSignal((signal) => {
      if (told) void host.exit(FAILED);
      told = true;
      resolve(signal);
    });
  });
}
