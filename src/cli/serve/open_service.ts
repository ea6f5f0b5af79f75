import type { App } from "../../app.ts";
import type { Environment } from "../../server/config/config.ts";
import { type Output, readText } from "../../server/runtime/host.ts";
import { readSettings } from "../read_settings.ts";
import { explainFailure } from "../stop.ts";
import { createTelemetry } from "./observe_process.ts";
import { assembleService } from "./service.ts";

/** The settings of a service within another program. */
export interface OpenServiceOptions {
  /** The variables of the README; without `DATABASE_URL`, the embedded demonstration is served. */
  readonly environment?: Environment;
  /** The content of the policy file, instead of `ROWGATE_POLICY`. */
  readonly policy?: unknown;
  /** Takes each log line, as JSON; `console.log` by default. */
  readonly log?: (line: string) => void;
}

/** A service within another program. */
export interface OpenedService {
  /** The fetch handler; it answers 503 while the database is unavailable. */
  readonly app: App;
  /** One for each tenant of the demonstration, on the first start of the embedded Postgres. */
  readonly tokens: readonly { readonly tenant: string; readonly token: string }[];
  /** Closes the database; running statements have this long to end, 5 s by default. */
  readonly close: (timeoutMs?: number) => Promise<void>;
}

const CLOSE_MS = 5000;
const SILENT: Output = { isTerminal: false, write: () => {}, writeLine: () => {} };

/**
 * Opens the service that `rowgate serve` serves, for a program with a server of its own. The handler
 * needs requests with their whole path: `/integration/…`.
 * @throws {Error} with all problems of the settings, or the reason why the database cannot be served
 * @see docs/decisions/0001-dependencies-and-shipping.md
 */
export async function openService(options: OpenServiceOptions = {}): Promise<OpenedService> {
  const { environment = {}, policy, log = (line: string) => console.log(line) } = options;
  try {
    const settings = await readSettings(
      policy === undefined ? { environment, readFile: readText } : {
        environment: { ...environment, ROWGATE_POLICY: "policy" },
        readFile: () => Promise.resolve(JSON.stringify(policy)),
      },
    );
    const write = (print: () => string) => log(print().trimEnd());
    const telemetry = createTelemetry(settings.config, { write, human: false });
    const service = await assembleService(settings, { ...telemetry, output: SILENT });
    const close = (timeoutMs = CLOSE_MS) => service.close(timeoutMs);
    try {
      const { demonstration, databaseReady } = await service.prepare();
      databaseReady.catch((error) =>
        telemetry.observe({ kind: "warning", message: explainFailure(error).lines.join("\n") })
      );
      return { app: service.app, tokens: demonstration?.tokens ?? [], close };
    } catch (error) {
      await close(0);
      throw error;
    }
  } catch (error) {
    throw new Error(explainFailure(error).lines.join("\n"), { cause: error });
  }
}
