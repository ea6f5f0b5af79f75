import type { App } from "../../app.ts";
import { assembleService } from "./service.ts";
import { readSettings } from "../read_settings.ts";
import { explainFailure } from "../stop.ts";
import { openWatch } from "./observe_process.ts";
import type { Environment } from "../../config/config.ts";
import { type Output, readText } from "../../runtime/host.ts";

/** What a service within another program is made from. */
export interface OpenServiceOptions {
  /** The settings of the README, `DATABASE_URL` first; without it the embedded demonstration. */
  readonly environment?: Environment;
  /** What would stand in the policy file, in place of `ROWGATE_POLICY`. */
  readonly policy?: unknown;
  /** Takes each line of the log, JSON; `console.log` when left out. */
  readonly log?: (line: string) => void;
}

/** A service within another program. */
export interface OpenedService {
  /** The fetch handler; answers 503 while the database is away. */
  readonly app: App;
  /** One for each tenant of the demonstration, on the first start of the embedded Postgres. */
  readonly tokens: readonly { readonly tenant: string; readonly token: string }[];
  /** Lets go of the database; running statements have so long, 5 s when nothing is said. */
  readonly close: (timeoutMs?: number) => Promise<void>;
}

const CLOSE_MS = 5000;
const QUIET: Output = { isTerminal: false, write: () => {}, writeLine: () => {} };

/**
 * Opens the service that `rowgate serve` serves, for a program that has a server of its own. Where its
 * handler is mounted, the whole path must arrive: `/integration/…`.
 * @throws {Error} with all problems of the settings, or saying why the database can not be served
 * @see docs/decisions/0192-what-is-shipped.md
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
    const watch = openWatch(settings.config, { write, human: false });
    const service = await assembleService(settings, { ...watch, output: QUIET });
    const close = (timeoutMs = CLOSE_MS) => service.close(timeoutMs);
    try {
      const { demonstration, coming } = await service.prepare();
      coming.catch((error) =>
        watch.observe({ kind: "warning", message: explainFailure(error).lines.join("\n") })
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
