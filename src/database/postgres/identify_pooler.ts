import type { Config } from "../../server/config/config.ts";
import { SESSION_SETTINGS } from "./connection.ts";
import type { Row } from "./driver.ts";
import type { Session } from "./session.ts";
import { createSessionOpener } from "./session_opener.ts";
import { settle } from "./statement.ts";

/** What sessions show about a pooler between the service and Postgres. */
export interface Between {
  readonly pooler: boolean;
  /** True if the pooler lends one backend to several open sessions in turn: transaction mode. */
  readonly shared: boolean;
  /** False if it drops settings that a session was opened with. */
  readonly keepsSettings: boolean;
}

/** Sessions that are open at the same time. A pooler lends the most recently returned backend first. */
const SESSIONS = 3;
const ANSWER_MS = 5000;

/**
 * Detects a pooler by opening a few sessions; undefined if none can be opened. A pooler makes the key
 * of a session itself, so its process id is not that of the backend. In transaction mode, sessions
 * that are open at the same time show the same backend, although on a busy pooler they may not.
 */
export async function identifyPooler(config: Config): Promise<Between | undefined> {
  const open = createSessionOpener(config, {});
  const sessions: Session[] = [];
  const backends: string[] = [];
  try {
    let keepsSettings = true;
    while (sessions.length < SESSIONS) {
      const session = await open();
      // In session mode there may be no backend for another session.
      if ("kind" in session) break;
      sessions.push(session);
      if (session.identity !== undefined) {
        return { pooler: false, shared: false, keepsSettings: true };
      }
      const seen = await readBackend(session);
      if (seen === undefined) break;
      backends.push(seen.backend);
      keepsSettings &&= seen.isolation === SESSION_SETTINGS["default_transaction_isolation"] &&
        seen.timeout === String(config.statementTimeoutMs);
    }
    if (sessions.length === 0) return undefined;
    const shared = new Set(backends).size < backends.length;
    return { pooler: true, shared, keepsSettings };
  } finally {
    for (const session of sessions) session.close();
  }
}

interface SeenBackend extends Row {
  readonly backend: string;
  readonly timeout: string;
  readonly isolation: string;
}

async function readBackend(session: Session): Promise<SeenBackend | undefined> {
  const query = session.sql<
    SeenBackend[]
  >`select pg_catalog.pg_backend_pid()::pg_catalog.text as backend,
    pg_catalog.current_setting('default_transaction_isolation') as isolation,
    (select s.setting from pg_catalog.pg_settings s where s.name operator(pg_catalog.=) 'statement_timeout') as timeout`
    .simple();
  const outcome = await settle(session, query, { deadlineMs: ANSWER_MS });
  return outcome.failure === undefined ? outcome.rows[0] : undefined;
}
