import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach } from "@std/testing/bdd";
import type { App } from "../../../src/app.ts";
import type { Database } from "../../../src/postgres/database.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import type { Metrics } from "../../../src/telemetry/metrics.ts";
import type { Observation } from "../../../src/telemetry/observe.ts";
import type { TokenStore } from "../../../src/tokens/token.ts";
import type { TestDatabase } from "../database.ts";
import { checkResponse } from "./check_response.ts";
import { checkStatement, checkStatementOfOne, type TenancyRules } from "./check_statement.ts";
import { openRecord } from "../record_responses.ts";
import { collectSpoken, findLeaks, findPostgres } from "./find_leaks.ts";
import { observeStatements } from "./observe_statements.ts";

/** One that watches a service of the tests; what it finds fails the test that runs. */
export interface Watch {
  readonly database: (database: Database) => Database;
  readonly tokens: (store: TokenStore) => TokenStore;
  readonly app: (app: App) => App;
  readonly observe: (observation: Observation) => void;
  /** Hears a token that was made, and whose it is. */
  readonly issued: (token: string, tenant: string) => void;
  /** Hears what a client is about to say. */
  readonly spoken: (text: string) => void;
  /** Hears a line of a server's log. */
  readonly logged: (line: string) => void;
  readonly close: () => void;
}

/** What is to be watched. */
export interface WatchOptions {
  readonly test: TestDatabase;
  readonly rules: TenancyRules;
  readonly metrics?: Metrics;
}

/** Whom the request that runs is for. */
interface Asking {
  tenant: string | undefined;
}

const asking = new AsyncLocalStorage<Asking>();
const checks = new Set<() => Promise<string[]>>();

afterEach(async () => {
  const found = (await Promise.all([...checks].map((check) => check()))).flat();
  if (found.length > 0) throw new Error(`the watch found:\n  ${[...new Set(found)].join("\n  ")}`);
});

/**
 * Watches one service: its statements are bound to the tenant of the request, its answers, log lines
 * and metrics tell nothing of another tenant, no token, no SQL and nothing of Postgres's, and after
 * each test the rows of every tenant that wrote nothing are as they were.
 */
export function guardService({ test, rules, metrics }: WatchOptions): Watch {
  const tenants = new Map<string, string>();
  const answering = new Set<Asking>();
  const secrets = { tokens: new Set<string>(), spoken: new Set<string>() };
  const { rows } = test;
  let found: string[] = [];
  const add = (where: string, faults: readonly string[]) => {
    for (const fault of faults) found.push(`${where}: ${fault}`);
  };
  const logged = (line: string) => {
    add(`log ${line}`, [...findLeaks(line, undefined, secrets), ...findPostgres(line)]);
  };
  const log = createLog("debug", { write: (print) => logged(print()), human: false });

  async function check(): Promise<string[]> {
    add("rows", await rows.check());
    const text = await metrics?.print() ?? "";
    add("metrics", [...findLeaks(text, undefined, secrets), ...findPostgres(text)]);
    const all = found;
    found = [];
    return all;
  }
  checks.add(check);

  return {
    database: (database) =>
      observeStatements(database, (statement, together) => {
        const tenant = asking.getStore()?.tenant;
        const tenants = new Set([...answering].flatMap((one) => one.tenant ?? []));
        const faults = readFaults(() =>
          together
            ? checkStatementOfOne(statement, { rules, tenants })
            : checkStatement(statement, { rules, tenant, tenants })
        );
        add(`statement ${statement.text}`, faults);
      }),
    tokens: (store) => ({
      ...store,
      find: async (token) => {
        const access = await store.find(token);
        const store_ = asking.getStore();
        if (access !== null && store_ !== undefined) {
          if (store_.tenant === undefined) store_.tenant = access.tenant;
          else if (store_.tenant !== access.tenant) add("token", ["speaks for another tenant"]);
        }
        return access;
      },
    }),
    app: (app) => async (request, connection) => {
      const tenant = tenants.get(readToken(request));
      const record = openRecord(request);
      const end = await rows.start(request.method === "PATCH" ? tenant : undefined);
      const store: Asking = { tenant };
      answering.add(store);
      try {
        const response = await asking.run(store, () => app(request, connection));
        const faults = await checkResponse(request, response, {
          rules,
          secrets,
          record,
          tenant: tenant ?? store.tenant,
        });
        add(`${request.method} ${request.url}`, faults);
        return response;
      } finally {
        answering.delete(store);
        end();
      }
    },
    observe: log,
    logged,
    issued: (token, tenant) => {
      tenants.set(token, tenant);
      secrets.tokens.add(token);
    },
    spoken: (text) => collectSpoken(text, secrets.spoken),
    close: () => checks.delete(check),
  };
}

function readFaults(read: () => string[]): string[] {
  try {
    return read();
  } catch (error) {
    return [String(error)];
  }
}

function readToken(request: Request): string {
  return /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
}
