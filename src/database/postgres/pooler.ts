import { quoteText } from "../../basics/text/quote_text.ts";
import { type DriverSocket, makeQuery, type Sql } from "./driver.ts";
import { collectMessages } from "./socket.ts";

/** Whether the sessions of a database go through a pooler. @see R60 */
export interface PoolerMode {
  /** Undefined until a session was opened. Once true, it stays true. */
  readonly isPooled: () => boolean | undefined;
  /** Called with what a session has shown. */
  readonly found: (pooled: boolean) => void;
  /** Resolves with the first value that is known. */
  readonly known: Promise<boolean>;
}

/**
 * Opens the mode of a database. `ROWGATE_PREPARE` says that there is no pooler (true) or one (false),
 * or leaves it to the sessions (`auto`).
 */
export function openPoolerMode(prepare: boolean | "auto"): PoolerMode {
  let pooled = prepare === "auto" ? undefined : !prepare;
  let settle: (pooled: boolean) => void = () => {};
  const known = new Promise<boolean>((resolve) => settle = resolve);
  if (pooled !== undefined) settle(pooled);
  return {
    isPooled: () => pooled,
    found(seen) {
      pooled = pooled === true || seen;
      settle(pooled);
    },
    known,
  };
}

/**
 * Where the prepared statements of a session are kept. `own`: in its backend, which only it uses.
 * `shared`: by a pooler, whichever backend it lends. `none`: nowhere, they would be lost.
 */
export type Keeping = "own" | "shared" | "none";

const KEEPING = new WeakMap<Sql, Keeping>();

/** Returns where the statements of a session are kept; `own` if nothing was recorded. */
export function keepingOf(sql: Sql): Keeping {
  return KEEPING.get(sql) ?? "own";
}

/** Records where the statements of a session are kept. */
export function noteKeeping(sql: Sql, keeping: Keeping): void {
  KEEPING.set(sql, keeping);
}

/** Every session prepares the same text under the same name, so that a pooler keeps only one. */
const PROBE = "rowgate_probe";
const COUNT_KEPT = `select pg_catalog.count(*)::pg_catalog.text as kept
  from pg_catalog.pg_prepared_statements where name operator(pg_catalog.=) '${PROBE}'`;

/**
 * Records where the statements of a session behind a pooler are kept; finds it out if it is
 * `unknown`.
 */
export async function settleKeeping(sql: Sql, keeping: Keeping | "unknown"): Promise<void> {
  noteKeeping(sql, keeping === "unknown" ? await findKeeping(sql) : keeping);
}

/**
 * Finds out whether a pooler keeps statements, as PgBouncer does from version 1.21 with
 * `max_prepared_statements` above 0. Such a pooler renames statements, since two sessions may use the
 * same name. So if the backend has one under the session's own name, the pooler does not keep them.
 */
async function findKeeping(sql: Sql): Promise<Keeping> {
  try {
    const statement = { name: PROBE };
    const [row] = await makeQuery<{ kept: string }>(
      sql,
      { text: COUNT_KEPT, parameters: [] },
      statement,
    );
    return row?.kept === "0" ? "shared" : "none";
  } catch (error) {
    // 42P05: another session has left its statement on the backend. Any other error ends this
    // session.
    if ((error as { readonly name?: unknown }).name !== "PostgresError") throw error;
    return "none";
  }
}

/** The first bytes of messages. */
const KIND = {
  startup: 0,
  bind: 0x42,
  parse: 0x50,
  query: 0x51,
  sync: 0x53,
  parseComplete: 0x31,
  bindComplete: 0x32,
  commandComplete: 0x43,
  execute: 0x45,
  error: 0x45,
  ready: 0x5a,
} as const;
/** How Postgres answers the statement that makes the settings, which has no rows. */
const ANSWERS = [KIND.parseComplete, KIND.bindComplete, KIND.commandComplete];

/**
 * Has a socket make settings before each statement that the driver sends, in the transaction of that
 * statement. So they hold when its text is parsed and when its parameters are read, which no part of
 * the statement itself could achieve, and a pooler lends one backend for both. It takes no round trip.
 *
 * The driver sees neither the statement with the settings nor its answer. The commands that begin and
 * end transactions, which are sent as simple queries, make none.
 * @see P24, R6
 * @see docs/decisions/0027-connections.md
 */
export function makeSettings(
  socket: DriverSocket,
  settings: Readonly<Record<string, string>>,
): DriverSocket {
  const first = printStatement(settings);
  /** For each Sync that is not answered yet, how many of the answers are still to come. */
  const awaited: number[] = [];
  let isBetween = true;
  let isStarted = false;
  const write = socket.write.bind(socket) as (data: Uint8Array, ...more: unknown[]) => unknown;
  const emit = socket.emit.bind(socket);

  function begin(kind: number): Uint8Array | undefined {
    if (!isBetween) return undefined;
    isBetween = false;
    const makes = kind === KIND.parse || kind === KIND.bind;
    awaited.push(makes ? ANSWERS.length : 0);
    return makes ? first : undefined;
  }

  const writeAll = (data: Uint8Array, ...rest: unknown[]) => {
    // The message that starts the session has no kind.
    if (data[0] === KIND.startup) return write(data, ...rest);
    const parts: Uint8Array[] = [];
    let sent = 0;
    for (let at = 0; at < data.length; at = endOf(data, at)) {
      const kind = data[at]!;
      const more = isStarted ? begin(kind) : undefined;
      if (more !== undefined) {
        parts.push(data.subarray(sent, at), more);
        sent = at;
      }
      if (kind === KIND.sync || kind === KIND.query) isBetween = true;
    }
    parts.push(data.subarray(sent));
    return write(parts.length === 1 ? data : concat(parts), ...rest);
  };

  const take = collectMessages((messages) => {
    let passed = 0;
    const pass = (end: number) => {
      if (passed < end) emit("data", messages.subarray(passed, end));
    };
    for (let at = 0, end = 0; at < messages.length; at = end) {
      end = endOf(messages, at);
      const kind = messages[at]!;
      const left = awaited[0] ?? 0;
      if (kind === KIND.ready) {
        // The first one ends the log-in.
        if (isStarted) awaited.shift();
        isStarted = true;
      } else if (kind === KIND.error) awaited[0] = 0;
      else if (left > 0 && kind === ANSWERS[ANSWERS.length - left]) {
        pass(at);
        passed = end;
        awaited[0] = left - 1;
      }
    }
    pass(messages.length);
  });
  return Object.assign(socket, {
    write: writeAll,
    emit(event: string, ...values: unknown[]) {
      if (event !== "data") return emit(event, ...values);
      take(values[0] as Parameters<typeof take>[0]);
      return true;
    },
  });
}

/** Finds the end of the message that begins there. */
function endOf(messages: Uint8Array, at: number): number {
  const { buffer, byteOffset } = messages;
  return at + 1 + new DataView(buffer, byteOffset + at + 1, 4).getInt32(0);
}

/** Prints the messages that parse, bind and execute the statement; no row meets its condition. */
function printStatement(settings: Readonly<Record<string, string>>): Uint8Array {
  const made = Object.entries(settings).map(([name, value]) =>
    `pg_catalog.set_config(${quoteText(name)}, ${quoteText(value)}, true)`
  );
  const text = `select where pg_catalog.concat(${made.join(", ")}) is null`;
  return concat([
    printMessage(KIND.parse, `\0${text}\0\0\0`),
    printMessage(KIND.bind, "\0".repeat(8)),
    printMessage(KIND.execute, "\0".repeat(5)),
  ]);
}

function printMessage(kind: number, body: string): Uint8Array {
  const text = new TextEncoder().encode(body);
  const head = new DataView(new ArrayBuffer(5));
  head.setUint8(0, kind);
  head.setInt32(1, text.length + 4);
  return concat([new Uint8Array(head.buffer), text]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
