import { printArray } from "../../basics/text/array_text.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import type { Session } from "./session.ts";
import type { OpenSession } from "./session_opener.ts";
import { settle } from "./statement.ts";

/** How a watch opens sessions of its own, and what it reports to. */
export interface AbandonedOptions {
  readonly open: OpenSession;
  readonly observe: Observe;
}

const CHECK_MS = 500;
/** A statement that still runs this long after its cancellation is reported. */
const WARN_MS = 5000;
/** Behind a pooler, and on an unreachable server, a session is released after this time. */
const UNKNOWN_MS = 60_000;
const ANSWER_MS = 5000;
const MAX_INSPECTIONS = 4;

/** What is known of an abandoned session. */
interface Entry {
  readonly sinceMs: number;
  /** When its backend was last seen. */
  seenMs: number;
  warned: boolean;
}

/**
 * Watches sessions that were abandoned while Postgres may still run their statement. Each keeps its
 * place in the pool and in its tenant's share, so that no connection is opened in place of one that
 * Postgres still works on. It is **watched** until it is **released**: when its statement is answered
 * or its socket closes. Neither may happen, if the network lost the connection or the backend does not
 * react. So another session asks Postgres which of the backends still exist, and terminates them if it
 * can.
 * @see docs/decisions/0029-sessions.md
 */
export class Abandoned {
  readonly #options: AbandonedOptions;
  readonly #watched = new Map<Session, Entry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #inspecting = 0;
  #isClosed = false;

  constructor(options: AbandonedOptions) {
    this.#options = options;
  }

  /** Watches a session until its statement or its backend has ended in Postgres. */
  add(session: Session): void {
    if (this.#watched.has(session)) return;
    const nowMs = performance.now();
    this.#watched.set(session, { sinceMs: nowMs, seenMs: nowMs, warned: false });
    this.#report();
    session.released!.then(() => {
      this.#watched.delete(session);
      this.#report();
      if (this.#watched.size === 0) this.#stop();
    });
    this.#timer ??= setTimeout(() => this.#check(), CHECK_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #report(): void {
    this.#options.observe({ kind: "abandoned", sessions: this.#watched.size });
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const nowMs = performance.now();
    for (const [session, entry] of this.#watched) {
      if (nowMs - entry.seenMs > UNKNOWN_MS) session.destroy();
      else if (nowMs - entry.sinceMs > WARN_MS && !entry.warned) {
        entry.warned = true;
        this.#options.observe({ kind: "warning", message: describe(session) });
      }
    }
    const known = [...this.#watched.keys()].filter(({ identity }) => identity !== undefined);
    if (known.length > 0) void this.#inspect(known);
    if (this.#isClosed || this.#watched.size === 0) this.#stop();
    else this.#timer = setTimeout(() => this.#check(), CHECK_MS);
  }

  /**
   * Terminates the backends, and destroys the sessions whose backend no longer exists. It opens a new
   * session each time, since one that was kept may be as dead, and is not awaited, so that a later
   * attempt can succeed.
   */
  async #inspect(sessions: readonly Session[]): Promise<void> {
    if (this.#inspecting === MAX_INSPECTIONS) return;
    this.#inspecting++;
    const inspector = await this.#options.open();
    if (!("kind" in inspector)) {
      const { server } = inspector.identity ?? {};
      const reachable = sessions.filter(({ identity }) => identity!.server === server);
      const running = await endBackends(inspector, reachable);
      if (running !== undefined) this.#note(reachable, running);
      inspector.close();
    }
    this.#inspecting--;
  }

  /** Destroys the sessions whose backend has ended. */
  #note(sessions: readonly Session[], running: ReadonlySet<Session>): void {
    for (const session of sessions) {
      const entry = this.#watched.get(session);
      if (!running.has(session)) session.destroy();
      else if (entry !== undefined) entry.seenMs = performance.now();
    }
  }
}

/**
 * Terminates the backends of sessions, if the role may, and returns the sessions whose backend still
 * existed; undefined if Postgres did not answer.
 */
async function endBackends(
  inspector: Session,
  sessions: readonly Session[],
): Promise<ReadonlySet<Session> | undefined> {
  if (sessions.length === 0) return undefined;
  const pids = printArray(sessions.map(({ identity }) => identity!.pid));
  const starts = printArray(sessions.map(({ identity }) => identity!.started));
  const outcome = await settle(
    inspector,
    inspector.sql<{ pid: string; started: string }[]>`
      select "$a".pid::pg_catalog.text as pid,
        "$a".backend_start::pg_catalog.text as started,
        pg_catalog.pg_terminate_backend("$a".pid) as ended
      from pg_catalog.pg_stat_activity "$a"
      join unnest(${pids}::pg_catalog.text::pg_catalog.int4[],
          ${starts}::pg_catalog.text::pg_catalog.timestamptz[]) "$s" (pid, started)
        on "$a".pid operator(pg_catalog.=) "$s".pid
          and "$a".backend_start operator(pg_catalog.=) "$s".started`,
    { deadlineMs: ANSWER_MS },
  );
  if (outcome.failure !== undefined) return undefined;
  const running = new Set(outcome.rows.map(({ pid, started }) => `${pid} ${started}`));
  return new Set(
    sessions.filter(({ identity }) => running.has(`${identity!.pid} ${identity!.started}`)),
  );
}

function describe({ identity }: Session): string {
  const which = identity === undefined ? "" : ` (backend ${identity.pid})`;
  return `a cancelled statement still runs in Postgres${which}; ` +
    "its connection counts as in use until it ends";
}
