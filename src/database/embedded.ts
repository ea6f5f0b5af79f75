import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { link, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { PGlite } from "@electric-sql/pglite";
import { SESSION_SETTINGS } from "./connection.ts";

/** A Postgres in this process, without a port. */
export interface Embedded {
  /** Makes what the driver takes for a socket; all of them share the one session. */
  readonly connect: () => EventEmitter;
  /** Gives the data directory as a tar, to be loaded into another. */
  readonly dump: () => Promise<Blob>;
  /** Ends the session, and gives the data directory free. */
  readonly close: () => Promise<void>;
}

/** Where an embedded Postgres keeps its data; in memory when nothing is said. */
export interface EmbeddedOptions {
  readonly dataDir?: string;
  /** A tar of {@link Embedded.dump} to begin with, if the directory is new. */
  readonly load?: Blob;
}

/**
 * Opens a Postgres in this process, on disk or in memory.
 * @throws {Error} when another process has the data directory open
 * @see DECISIONS 9
 */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const unlock = options.dataDir === undefined ? undefined : await lock(options.dataDir);
  try {
    const postgres = await start(options);
    const connect = shareSession(postgres);
    return {
      connect,
      dump: () => postgres.dumpDataDir("none"),
      async close() {
        if (!postgres.closed) await postgres.close();
        await unlock?.();
      },
    };
  } catch (error) {
    await unlock?.();
    throw error;
  }
}

/** Loads PGlite, only now and only here: the bundle leaves it out, a binary gives it its files. */
async function start({ dataDir, load }: EmbeddedOptions): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { citext } = await import("@electric-sql/pglite/contrib/citext");
  const postgres = await PGlite.create({
    ...(dataDir === undefined ? {} : { dataDir: join(dataDir, "postgres") }),
    ...(load === undefined ? {} : { loadDataDir: load }),
    extensions: { citext },
  });
  const settings = {
    ...SESSION_SETTINGS,
    application_name: "rowgate",
    TimeZone: "UTC",
    DateStyle: "ISO, YMD",
    IntervalStyle: "iso_8601",
  };
  const text = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  await postgres.exec(text.join(";"));
  return postgres;
}

const READY_IDLE = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49);
const SYNC = Uint8Array.of(0x53, 0, 0, 0, 4);
const ROLLBACK = Uint8Array.of(0x51, 0, 0, 0, 13, ...new TextEncoder().encode("rollback"), 0);
const TERMINATE = 0x58;
const CANCEL_REQUEST = 80877102;

/**
 * Gives each socket the session for as long as its statement or transaction lasts: from the first
 * message until Postgres says that it is ready and in no transaction. Another socket's message in
 * between would land in that transaction, or overwrite its unnamed statement.
 */
function shareSession(postgres: PGlite): () => EventEmitter {
  let holder: EventEmitter | undefined;
  const waiting: EventEmitter[] = [];
  const messages = new Map<EventEmitter, Uint8Array[]>();

  function take(socket: EventEmitter): void {
    if (holder === socket || waiting.includes(socket)) return;
    waiting.push(socket);
    if (holder === undefined) pass();
  }

  function pass(): void {
    holder = waiting.shift();
    if (holder !== undefined) queueMicrotask(work);
  }

  let working = false;
  async function work(): Promise<void> {
    if (working || holder === undefined) return;
    working = true;
    const socket = holder;
    let idle = false;
    for (let next = messages.get(socket)?.shift(); next !== undefined;) {
      try {
        const answer = await postgres.execProtocolRaw(next);
        idle = endsWith(answer, READY_IDLE);
        if (answer.length > 0) {
          const { buffer, byteOffset, byteLength } = answer;
          socket.emit("data", Buffer.from(buffer, byteOffset, byteLength));
        }
      } catch (error) {
        socket.emit("error", error);
        await abandon(socket);
        idle = true;
      }
      next = messages.get(socket)?.shift();
    }
    working = false;
    if (idle || !messages.has(socket)) pass();
  }

  /** Ends whatever a socket leaves behind when it goes away in the middle. */
  async function abandon(socket: EventEmitter): Promise<void> {
    messages.delete(socket);
    await postgres.execProtocolRaw(SYNC).catch(() => {});
    await postgres.execProtocolRaw(ROLLBACK).catch(() => {});
  }

  function close(socket: EventEmitter & { readyState: string }): void {
    if (socket.readyState === "closed") return;
    socket.readyState = "closed";
    const mine = holder === socket;
    messages.delete(socket);
    const place = waiting.indexOf(socket);
    if (place >= 0) waiting.splice(place, 1);
    if (mine && !working) abandon(socket).then(pass);
    queueMicrotask(() => socket.emit("close", false));
  }

  return function connect() {
    const socket = Object.assign(new EventEmitter(), {
      readyState: "open",
      write(message: Uint8Array): boolean {
        if (socket.readyState !== "open") return false;
        if (isCancel(message) || message[0] === TERMINATE) {
          close(socket);
          return true;
        }
        // The driver may use the buffer again.
        messages.get(socket)?.push(Uint8Array.from(message));
        if (holder === socket) queueMicrotask(work);
        else take(socket);
        return true;
      },
      end(message?: Uint8Array) {
        if (message !== undefined) socket.write(message);
        close(socket);
      },
      destroy() {
        close(socket);
      },
    });
    messages.set(socket, []);
    return socket;
  };
}

function endsWith(bytes: Uint8Array, tail: Uint8Array): boolean {
  const start = bytes.length - tail.length;
  return start >= 0 && tail.every((byte, index) => bytes[start + index] === byte);
}

/** PGlite runs one statement at a time to its end; a request to cancel one comes too late. */
function isCancel(message: Uint8Array): boolean {
  return message.length === 16 &&
    new DataView(message.buffer, message.byteOffset).getInt32(4) === CANCEL_REQUEST;
}

/** Who holds a data directory: a process id alone may be another process after a restart. */
interface Holder {
  readonly pid: number;
  readonly started: string | undefined;
}

async function lock(dataDir: string): Promise<() => Promise<void>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, "lock");
  const own = `${file}.${process.pid}.${crypto.randomUUID()}`;
  await writeFile(own, JSON.stringify(await identify(process.pid)));
  try {
    // A link is made complete or not at all, so nobody reads half a lock.
    for (let attempt = 0; attempt < 3; attempt++) {
      if (await link(own, file).then(() => true, () => false)) {
        return () => unlink(file).catch(() => {});
      }
      const found = await readFile(file, "utf8").catch(() => "");
      if (found !== "" && await isAlive(found)) {
        throw new Error(
          `the data directory ${dataDir} is in use by process ${JSON.parse(found).pid}`,
        );
      }
      await rename(file, `${own}.stale`).catch(() => {});
      await unlink(`${own}.stale`).catch(() => {});
    }
    throw new Error(`the data directory ${dataDir} can not be locked`);
  } finally {
    await unlink(own).catch(() => {});
  }
}

async function isAlive(found: string): Promise<boolean> {
  try {
    const holder = JSON.parse(found) as Holder;
    const now = await identify(holder.pid);
    if (now.started !== undefined || holder.started !== undefined) {
      return now.started === holder.started;
    }
    process.kill(holder.pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Reads when a process started, where the system tells. */
async function identify(pid: number): Promise<Holder> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return { pid, started: line.slice(line.lastIndexOf(")") + 2).split(" ")[19] };
}
