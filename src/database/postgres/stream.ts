import type { Compile, Database, RowStream, StreamOptions } from "./database.ts";
import { DatabaseError, type Failure, makeFailure, nameFault } from "./database_error.ts";
import type { Sql } from "./driver.ts";
import type { Session } from "./session.ts";
import { openPace } from "./pace.ts";
import type { OnRow, RowFlow } from "./tap_rows.ts";
import type { OpenSession } from "./session_opener.ts";
import type { Statements } from "./statements.ts";
import { ABORTED, settle, type StatementOptions } from "./statement.ts";
import type { SessionSource } from "./with_session.ts";

/** The source of the sessions of streams, and their time limits. */
export interface StreamSource extends Pick<SessionSource, "observe" | "onSettled"> {
  readonly open: OpenSession;
  /** A cache that prepares nothing, since each session runs only one statement. */
  readonly cache: Statements;
  /** Called with a session that is abandoned while Postgres may still work on it. */
  readonly onAbandoned: (session: Session) => void;
  readonly limitMs: number;
  /** Additional time for the answer. */
  readonly graceMs: number;
}

/** How long a cancelled statement has to be answered. */
const CANCELLED_MS = 2000;

/** The running streams, which end when the database closes. */
export interface Streams {
  readonly stream: Database["stream"];
  /** Waits for running streams, at most the given milliseconds, and cancels the rest. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/**
 * Makes the function that streams the rows of a statement, on a session of its own, which ends with
 * the stream. While rows are not wanted, the socket is not read: then Postgres waits too, and nothing
 * is buffered.
 * @see docs/decisions/0063-export.md
 */
export function openStreams(source: StreamSource): Streams {
  const running = new Set<{ readonly cancel: () => void; readonly closed: Promise<void> }>();
  let closing = false;

  async function stream(compile: Compile, options: StreamOptions): Promise<RowStream> {
    const { observe, onSettled } = source;
    const fail = (failure: Failure) => {
      observe({ kind: "fault", fault: nameFault(failure) });
      onSettled(failure);
      return new DatabaseError(failure, { write: false });
    };
    const opened = closing ? makeFailure("unavailable", "CONNECTION_ENDED") : await source.open();
    if ("kind" in opened) throw fail(opened);
    const session: Session = opened;
    const ender = new AbortController();
    const pace = openPace(options.others);
    let flow: RowFlow | undefined;
    const settled = runStream(session, compile, {
      ...{ ...source, ...options, ender },
      begin(onRow) {
        flow = session.takeRows(onRow, pace);
      },
    });
    const closed = settled.then(() => endSession(session, source.onAbandoned));
    const ended = settled.then((failure) => {
      if (failure === undefined) onSettled(undefined);
      else throw fail(failure);
    });
    // The caller may await it later; until then a rejection must not count as unhandled.
    ended.catch(() => {});
    const one = { cancel, closed };
    running.add(one);
    closed.then(() => running.delete(one));

    function cancel(): void {
      if (ender.signal.aborted) return;
      ender.abort();
      // Postgres cannot be interrupted while it waits for its client to read.
      flow?.resume();
    }

    return { pause: () => flow?.pause(), resume: () => flow?.resume(), cancel, ended, closed };
  }

  async function close(timeoutMs: number): Promise<void> {
    closing = true;
    const all = Promise.all([...running].map(({ closed }) => closed));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = (ms: number) => new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
    await Promise.race([all, late(timeoutMs)]);
    clearTimeout(timer);
    for (const { cancel } of running) cancel();
    await Promise.race([all, late(CANCELLED_MS)]);
    clearTimeout(timer);
  }

  return { stream, close };
}

/** Runs the statement in a transaction, behind the steps that prepare it; gives the failure, if any. */
async function runStream(
  session: Session,
  compile: Compile,
  { cache, limitMs, graceMs, tenant, steps, onRow, ender, begin }: StreamSource & StreamOptions & {
    readonly ender: AbortController;
    /** Called before the statement with the rows is sent. */
    readonly begin: (onRow: OnRow) => void;
  },
): Promise<Failure | undefined> {
  const { signal } = ender;
  const options: Omit<StatementOptions, "cache"> = {
    deadlineMs: limitMs + graceMs,
    cancelledMs: CANCELLED_MS,
    tenant,
    client: ender,
  };
  const all = [
    () => session.sql`begin`.simple(),
    ...[limitStatement(limitMs), ...steps].map((step) => () =>
      cache.compile(session.sql, step, tenant)
    ),
    () => {
      begin((bytes, start) => {
        if (!signal.aborted) onRow(bytes, start);
      });
      return cache.compile(session.sql, compile, tenant);
    },
  ];
  for (const send of all) {
    if (signal.aborted) return ABORTED;
    const { failure } = await settle(session, send() as never, options);
    if (failure !== undefined) return failure;
  }
  if (signal.aborted) return ABORTED;
  const { failure } = await settle(session, session.sql`commit`.simple(), options);
  return failure;
}

/** Compiles the longer timeout of a stream, since the session starts with that of other statements. */
function limitStatement(limitMs: number): Compile {
  return (sql: Sql) =>
    sql`select concat(set_config(${"statement_timeout"}::text, ${String(limitMs)}::text, true))`;
}

/** Closes a session; resolves when Postgres no longer works on it. */
async function endSession(
  session: Session,
  onAbandoned: StreamSource["onAbandoned"],
): Promise<void> {
  if (session.released === undefined) {
    if (session.isOpen()) session.close();
    return;
  }
  onAbandoned(session);
  await session.released;
}
