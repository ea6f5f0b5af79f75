import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach } from "@std/testing/bdd";
import type { App } from "../../../src/app.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { createLog } from "../../../src/server/telemetry/log.ts";
import type { Metrics } from "../../../src/server/telemetry/metrics.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import type { TokenStore } from "../../../src/access/tokens/token.ts";
import type { TestDatabase } from "../database.ts";
import { checkExport, checkResponse } from "./check_response.ts";
import {
  checkStatement,
  checkStatementOfOne,
  nameRules,
  type TenancyRules,
} from "./check_statement.ts";
import { openRecord } from "../record_responses.ts";
import { collectSent, findLeaks, findPostgres } from "./find_leaks.ts";
import { observeStatements } from "./observe_statements.ts";

/** Holds a test service to its invariants; what breaks one fails the test that runs. */
export interface ServiceGuard {
  readonly database: (database: Database) => Database;
  readonly tokens: (store: TokenStore) => TokenStore;
  readonly app: (app: App) => App;
  readonly observe: (observation: Observation) => void;
  /** Notes a token that was made, and its tenant. */
  readonly issued: (token: string, tenant: string) => void;
  /** Notes what a client is about to send. */
  readonly sent: (text: string) => void;
  /** Checks a line of a server's log. */
  readonly logged: (line: string) => void;
  /** Forgets what clients have sent. */
  readonly forget: () => void;
  readonly close: () => void;
}

/** What is guarded. */
export interface GuardOptions {
  readonly test: TestDatabase;
  readonly rules: TenancyRules;
  readonly metrics?: Metrics;
}

/** The tenant of a request in flight, once it is known. */
interface InFlight {
  tenant: string | undefined;
}

const inFlight = new AsyncLocalStorage<InFlight>();
const checks = new Set<() => Promise<string[]>>();

afterEach(async () => {
  const found = (await Promise.all([...checks].map((check) => check()))).flat();
  if (found.length > 0) {
    throw new Error(`an invariant is broken:\n  ${[...new Set(found)].join("\n  ")}`);
  }
});

/**
 * Guards one service: its statements are bound to the tenant of the request; its responses, log lines
 * and metrics contain nothing of another tenant, no token, no SQL and no text of Postgres; and after
 * each test the rows of every tenant that wrote nothing are unchanged.
 */
export function guardService({ test, metrics, ...options }: GuardOptions): ServiceGuard {
  const rules = nameRules(options.rules);
  const tenants = new Map<string, string>();
  const allInFlight = new Set<InFlight>();
  const secrets = { tokens: new Set<string>(), sent: new Set<string>() };
  const { rows } = test;
  const recordOf = openRecord();
  let found: string[] = [];
  const add = (where: string, faults: readonly string[]) => {
    for (const fault of faults) found.push(`${where}: ${fault}`);
  };
  const logged = (line: string) => {
    add(`log ${line}`, [...findLeaks(line, undefined, secrets), ...findPostgres(line)]);
  };
  const log = createLog("debug", { write: (print) => logged(print()), human: false });

  // Nothing else changes a metric.
  let observed = true;

  async function check(): Promise<string[]> {
    add("rows", await rows.check());
    const text = observed ? await metrics?.print() ?? "" : "";
    observed = false;
    add("metrics", [...findLeaks(text, undefined, secrets), ...findPostgres(text)]);
    const all = found;
    found = [];
    return all;
  }
  checks.add(check);

  return {
    database: (database) =>
      observeStatements(database, (statement, together) => {
        const tenant = inFlight.getStore()?.tenant;
        const tenants = new Set([...allInFlight].flatMap((one) => one.tenant ?? []));
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
        const request = inFlight.getStore();
        if (access !== null && request !== undefined) {
          if (request.tenant === undefined) request.tenant = access.tenant;
          else if (request.tenant !== access.tenant) add("token", ["belongs to another tenant"]);
        }
        return access;
      },
    }),
    app: (app) => async (request, connection) => {
      const tenant = tenants.get(readToken(request));
      const record = recordOf(request);
      const end = await rows.start(mayWrite(request) ? tenant : undefined);
      const store: InFlight = { tenant };
      allInFlight.add(store);
      try {
        const response = await inFlight.run(store, () => app(request, connection));
        const check = { rules, secrets, record, tenant: tenant ?? store.tenant };
        const report = (faults: string[]) => add(`${request.method} ${request.url}`, faults);
        report(await checkResponse(request, response, check));
        const table = /\/tables\/([^/]+)\/query/.exec(request.url)?.[1] ?? "";
        return checkExport(response, check, { table, report });
      } finally {
        allInFlight.delete(store);
        end();
      }
    },
    observe(observation) {
      observed = true;
      log(observation);
    },
    logged,
    issued: (token, tenant) => {
      tenants.set(token, tenant);
      secrets.tokens.add(token);
    },
    sent: (text) => collectSent(text, secrets.sent),
    forget: () => secrets.sent.clear(),
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

/** An agent's message may call a tool that writes. */
function mayWrite({ method, url }: Request): boolean {
  const { pathname } = new URL(url);
  return ["PATCH", "PUT", "DELETE"].includes(method) ||
    method === "POST" && (pathname === "/mcp" || pathname.endsWith("/records"));
}

function readToken(request: Request): string {
  return /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
}
