import type { Command } from "commander";
import { createApp } from "../app.ts";
import { followDatabase } from "../catalogue/current.ts";
import { openDatabase } from "../database/client.ts";
import type { Database } from "../database/database.ts";
import { debounce } from "../debounce.ts";
import { createLog } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import type { Observe } from "../observe.ts";
import type { Host } from "../runtime/host.ts";
import { serve, type Served } from "../runtime/serve.ts";
import { createTokenStore } from "../tokens/store.ts";
import { awaitDatabase } from "./await_database.ts";
import { printBanner } from "./banner.ts";
import { type Demonstration, prepareDemonstration } from "./demonstration.ts";
import { readSettings, type Settings } from "./read_settings.ts";
import type { Run } from "./run.ts";
import { explainFailure, FAILED, stop } from "./stop.ts";
import { VERSION } from "./version.ts";

const EXAMPLE = `
Examples:
  rowgate serve                                              serves the demonstration
  DATABASE_URL=postgres://app:…@db/shop PORT=9000 rowgate serve

Every setting is an environment variable; README.md lists them. Exit codes: 0 after SIGTERM or SIGINT,
1 when something failed, 2 when the command line or the configuration is wrong.`;

/** Adds `rowgate serve`. @see DECISIONS 9 */
export function addServe(root: Command, run: Run): void {
  root.command("serve")
    .description("serve the tables of the configured database over HTTP")
    .addHelpText("after", EXAMPLE)
    .action(() => run(runServer));
}

async function runServer(host: Host): Promise<number> {
  const signal = awaitSignal(host);
  const settings = await readSettings(host);
  const metrics = createMetrics({ version: VERSION });
  const log = debounce(createLog(settings.config.logLevel, {
    write: host.stdout.writeLine,
    human: host.stdout.isTerminal,
  }));
  const observe: Observe = (observation) => {
    metrics.observe(observation);
    log(observation);
  };
  // The driver can reject where nobody listens; the statement that suffers has its own deadline.
  host.onStrayError((error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
    observe({ kind: "failure", requestId: "-", code, where: "background" });
  });
  try {
    const database = await openDatabase(settings.config, observe);
    const { served, close, failed } = await start(host, { settings, database, metrics, observe });
    const told = await Promise.race([signal, failed]);
    observe({ kind: "stopping", signal: told });
    const started = performance.now();
    await served.stop(settings.config.shutdownMs);
    const left = settings.config.shutdownMs - (performance.now() - started);
    await close(Math.max(500, left));
    return 0;
  } catch (error) {
    throw explainFailure(error);
  }
}

interface Parts {
  readonly settings: Settings;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly observe: Observe;
}

interface Started {
  readonly served: Served;
  readonly close: (timeoutMs: number) => Promise<void>;
  /** Rejects when waiting for the database turns out to be useless. */
  readonly failed: Promise<never>;
}

async function start(
  host: Host,
  { settings, database, metrics, observe }: Parts,
): Promise<Started> {
  const { config, policy } = settings;
  const { schema, tenantColumn } = config;
  const catalogue = followDatabase(database, { schema, tenantColumn, policy, observe });
  try {
    const waiting = await awaitDatabase(database, { config, observe });
    let demonstration: Demonstration | undefined;
    if (waiting === undefined) {
      if (config.databaseUrl === undefined) {
        demonstration = await prepareDemonstration(database, (text) => host.stderr.write(text));
      }
      // What is wrong with it is observed; the server says so in /readyz and tries again.
      await catalogue.current().catch(() => {});
    }
    const tokens = createTokenStore(database, { observe });
    const app = createApp({ config, database, catalogue, tokens, observe, metrics });
    const served = await listen(app, settings);
    observe({ kind: "listening", address: served.address });
    if (config.databaseUrl === undefined) {
      host.stderr.write(printBanner({ address: served.address, config, demonstration }));
    }
    const close = async (timeoutMs: number) => {
      catalogue.close();
      await database.close(timeoutMs);
    };
    const failed = Promise.resolve(waiting?.coming).then(() => new Promise<never>(() => {}));
    return { served, close, failed };
  } catch (error) {
    catalogue.close();
    await database.close(0);
    throw error;
  }
}

async function listen(
  app: ReturnType<typeof createApp>,
  { config: { host, port, requestTimeoutMs } }: Settings,
): Promise<Served> {
  try {
    return await serve(app, { host, port, requestTimeoutMs });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "internal";
    const why = code === "EADDRINUSE" ? "the address is in use" : code;
    throw stop(FAILED, `rowgate: can not listen on ${host}:${port}, ${why}`);
  }
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
