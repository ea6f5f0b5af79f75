import { printArray } from "../text/array_text.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Backend } from "./session.ts";
import type { OpenSession } from "./sessions.ts";
import { settle } from "./statement.ts";

/** Looks after sessions that were left while Postgres may still run their statement. */
export interface Abandoned {
  /** Takes a session in, until its statement has ended in Postgres or its backend is gone. */
  readonly add: (backend: Backend) => void;
  readonly close: () => void;
}

/** What {@link watchAbandoned} is made of. */
export interface AbandonedOptions {
  readonly open: OpenSession;
  readonly observe: Observe;
}

const LOOK_MS = 500;
/** An operator hears of a statement that outlives its cancellation by this. */
const TELL_MS = 5000;
/** Behind a pooler, or of a server that cannot be reached, nobody can say what still runs. */
const UNKNOWN_MS = 60_000;
const ANSWER_MS = 5000;
const MOST_INSPECTIONS = 4;

/**
 * Watches abandoned sessions. Each keeps its place in the pool and its tenant's share, so that no
 * connection is opened in place of one that Postgres still works on. It is over when the statement is
 * answered or the socket closes; where neither happens, because the network went silent or the backend
 * is deaf, a session of our own asks Postgres which of them are still there, and ends those it can.
 * @see docs/decisions/0031-abandoned-sessions.md
 */
export function watchAbandoned({ open, observe }: AbandonedOptions): Abandoned {
  const abandoned = new Map<Backend, { readonly sinceMs: number; told: boolean; seenMs: number }>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let inspecting = 0;
  let closed = false;

  function add(backend: Backend): void {
    if (abandoned.has(backend)) return;
    const nowMs = performance.now();
    abandoned.set(backend, { sinceMs: nowMs, seenMs: nowMs, told: false });
    report();
    backend.left!.then(() => {
      abandoned.delete(backend);
      report();
      if (abandoned.size === 0) rest();
    });
    timer ??= setTimeout(look, LOOK_MS);
  }

  function report(): void {
    observe({ kind: "abandoned", sessions: abandoned.size });
  }

  function rest(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function look(): void {
    const nowMs = performance.now();
    for (const [backend, entry] of abandoned) {
      const sinceMs = nowMs - entry.sinceMs;
      if (nowMs - entry.seenMs > UNKNOWN_MS) backend.destroy();
      else if (sinceMs > TELL_MS && !entry.told) {
        entry.told = true;
        observe({ kind: "warning", message: describe(backend) });
      }
    }
    const known = [...abandoned.keys()].filter(({ identity }) => identity !== undefined);
    if (known.length > 0) void inspect(known);
    if (closed || abandoned.size === 0) rest();
    else timer = setTimeout(look, LOOK_MS);
  }

  /**
   * Ends the backends that hear it, and gives up the sessions whose backend is gone. On a session of
   * its own each time: one that was kept may have gone silent too. Not awaited for the same reason, as
   * the next attempt may get through.
   */
  async function inspect(backends: readonly Backend[]): Promise<void> {
    if (inspecting === MOST_INSPECTIONS) return;
    inspecting++;
    const session = await open();
    if (!("kind" in session)) {
      const { server } = session.identity ?? {};
      const own = backends.filter(({ identity }) => identity!.server === server);
      if (own.length > 0) await endBackends(session, own);
      session.close();
    }
    inspecting--;
  }

  async function endBackends(session: Backend, backends: readonly Backend[]): Promise<void> {
    const pids = printArray(backends.map(({ identity }) => identity!.pid));
    const starts = printArray(backends.map(({ identity }) => identity!.started));
    const outcome = await settle(
      session,
      session.sql<{ pid: string; started: string }[]>`
        select "$a".pid::text as pid, "$a".backend_start::text as started,
          pg_catalog.pg_terminate_backend("$a".pid) as ended
        from pg_catalog.pg_stat_activity "$a"
        join unnest(${pids}::text::int4[], ${starts}::text::timestamptz[]) "$s"(pid, started)
          on "$a".pid = "$s".pid and "$a".backend_start = "$s".started`,
      { deadlineMs: ANSWER_MS },
    );
    if (outcome.failure !== undefined) return;
    const there = new Set(outcome.rows.map(({ pid, started }) => `${pid} ${started}`));
    for (const backend of backends) {
      const { pid, started } = backend.identity!;
      const entry = abandoned.get(backend);
      if (!there.has(`${pid} ${started}`)) backend.destroy();
      else if (entry !== undefined) entry.seenMs = performance.now();
    }
  }

  return {
    add,
    close() {
      closed = true;
      rest();
    },
  };
}

function describe({ identity }: Backend): string {
  const which = identity === undefined ? "" : ` (backend ${identity.pid})`;
  return `a cancelled statement still runs in Postgres${which}; ` +
    "its connection counts as in use until it ends";
}
