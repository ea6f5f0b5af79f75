import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { connect, isIP } from "node:net";
import type { OnReadOpts, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { freeMemory, IS_BUN } from "../../server/runtime/adapter.ts";
import type { Address, Encryption } from "./connection.ts";

/** Asks Postgres whether it encrypts; the answer is one byte. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
const YES = 0x53;
const NO = 0x4e;

const KEEP_ALIVE_MS = 30_000;

/**
 * Addresses of `sslmode=prefer` whose servers do not encrypt. This must be known before a session is
 * opened, because a socket that collects messages cannot be encrypted later (Deno 2.9). It may
 * change, so each session asks again.
 */
const UNENCRYPTED = new WeakSet<Address>();

/**
 * Opens a socket to Postgres, encrypted as required; the driver begins a session on it. An abort
 * destroys it, whatever it waits for. An unencrypted socket gives complete messages, in memory that
 * it reuses; not on Bun, where that saves no CPU and takes more memory.
 * @throws {Error} with the runtime's `code`, or `SSL_REFUSED`, `SSL_NOT_ANSWERED`, `SSL_ROOT_CERT`
 * @see D7
 */
export async function openSocket(
  address: Address,
  encryption: Encryption,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  // A socket in the file system is not encrypted, as in libpq.
  const isPlain = encryption.mode === "off" || "path" in address;
  const reader = !IS_BUN && (isPlain || UNENCRYPTED.has(address))
    ? openMessageReader((data) => socket.emit("data", data))
    : undefined;
  const socket: Socket = connect({
    ...address,
    ...("host" in address && address.hostaddr ? { host: address.hostaddr } : {}),
    ...(reader === undefined ? {} : { onread: reader.onread }),
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  await happen(socket, "connect");
  socket.setNoDelay(true);
  if (isPlain) {
    reader?.collect();
    return socket;
  }
  socket.write(SSL_REQUEST);
  const answer = await happen(socket, "data") as Uint8Array;
  const accepts = answer.length === 1 && answer[0] === YES;
  if (accepts && reader === undefined) return encrypt(socket, address.host, encryption);
  const isRefused = answer[0] === NO && encryption.mode === "prefer";
  if (isRefused && (reader !== undefined || IS_BUN)) {
    reader?.collect();
    return socket;
  }
  socket.destroy();
  if (accepts) UNENCRYPTED.delete(address);
  else if (answer[0] !== NO) throw codeError("SSL_NOT_ANSWERED");
  else if (isRefused) UNENCRYPTED.add(address);
  else throw codeError("SSL_REFUSED");
  return await openSocket(address, encryption, signal);
}

/** Bytes that are read at once. */
const READ_BYTES = 65_536;
/** Most bytes that a session keeps for incomplete messages; a page of 200 ordinary rows has 77 kB. */
const KEPT_BYTES = 4 * READ_BYTES;
/**
 * Memory is allocated for the announced length of a message, up to this many times what has arrived.
 */
const MAX_GROWTH = 16;

/** Reads from a socket, into one buffer. */
export interface MessageReader {
  /** The option of the socket. */
  readonly onread: OnReadOpts & { readonly buffer: Buffer };
  /** From now on, the input is messages of Postgres, which are given when they are complete. */
  readonly collect: () => void;
}

/**
 * Opens a reader that gives complete messages, one or several at once. Until {@link
 * MessageReader.collect} is called, it gives its input as it is read. The bytes are overwritten
 * later. Point 6 of `driver.ts`: the driver copies what it needs of a message while it reads it.
 * @see docs/decisions/0032-driver.md
 */
export function openMessageReader(give: (data: Buffer) => void): MessageReader {
  let take = give;
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  return {
    onread: {
      buffer,
      callback(length) {
        take(buffer.subarray(0, length));
        return true;
      },
    },
    collect() {
      take = collectMessages(give);
    },
  };
}

/**
 * Makes a function that takes input and passes on complete messages, one or several at once. The
 * bytes may be overwritten later.
 */
export function collectMessages(give: (data: Buffer) => void): (read: Buffer) => void {
  /** The incomplete message, of which `filled` bytes have arrived. */
  let held = Buffer.allocUnsafeSlow(0);
  let filled = 0;

  function hold(bytes: Buffer): void {
    const needed = filled + bytes.length;
    if (needed > held.length) {
      const message = readLength(filled === 0 ? bytes : held.subarray(0, filled), 0);
      const likely = Math.min(message + READ_BYTES, MAX_GROWTH * needed);
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, likely, 2 * READ_BYTES));
      larger.set(held.subarray(0, filled));
      freeMemory(held);
      held = larger;
    }
    held.set(bytes, filled);
    filled = needed;
  }

  return function take(read) {
    const wasHeld = filled > 0;
    if (wasHeld) hold(read);
    const bytes = wasHeld ? held.subarray(0, filled) : read;
    const end = findEnd(bytes);
    if (end === 0 && wasHeld) return;
    filled = 0;
    if (end > 0) give(bytes.subarray(0, end));
    if (end < bytes.length) hold(bytes.subarray(end));
    else if (held.length > KEPT_BYTES) {
      freeMemory(held);
      held = Buffer.allocUnsafeSlow(0);
    }
  };
}

/**
 * Opens memory that keeps bytes until they are taken, since the socket's own memory is overwritten by
 * the next read. Each call reuses it and overwrites what the last one returned. With new memory for
 * each read, V8 collected garbage several times a second.
 */
export function openKeeper(): (kept: Uint8Array, more: Uint8Array) => Uint8Array {
  let memory = Buffer.alloc(0);
  return function keep(kept, more) {
    const needed = kept.length + more.length;
    const room = needed > memory.length
      ? Buffer.allocUnsafeSlow(Math.max(needed, 2 * READ_BYTES))
      : memory;
    // `kept` may be a later part of the same memory; `set` handles the overlap.
    room.set(kept);
    room.set(more, kept.length);
    memory = room;
    return room.subarray(0, needed);
  };
}

/** Finds where the last complete message ends. */
function findEnd(bytes: Buffer): number {
  let end = 0;
  for (;;) {
    const next = end + readLength(bytes, end);
    if (next === end || next > bytes.length) return end;
    end = next;
  }
}

/** Reads how long a message is, with the byte before its length; 0 if too little of it has arrived. */
function readLength(bytes: Buffer, start: number): number {
  return start + 5 > bytes.length ? 0 : bytes.readUInt32BE(start + 1) + 1;
}

async function encrypt(socket: Socket, host: string, encryption: Encryption): Promise<Socket> {
  const { mode, rootFile } = encryption;
  try {
    const encrypted = connectTls({
      socket,
      rejectUnauthorized: mode === "verify",
      // The name to verify. For an address it must not be set, or it would be taken for "localhost".
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      ...(rootFile === undefined ? {} : { ca: await readRoot(rootFile) }),
    });
    await happen(encrypted, "secureConnect");
    return encrypted;
  } catch (error) {
    // Postgres would wait a minute for the log-in, and keep one of its connections for it.
    socket.destroy();
    throw error;
  }
}

async function readRoot(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw codeError("SSL_ROOT_CERT");
  }
}

/** Waits for the next event of a name; rejects if the socket ends instead. */
function happen(socket: Socket, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      socket.removeListener(name, succeed);
      // An error may follow another; without a listener it would end the process.
      socket.removeListener("close", close);
    };
    const succeed = (value: unknown) => {
      settle();
      resolve(value);
    };
    const close = () => {
      settle();
      reject(codeError("CONNECTION_CLOSED"));
    };
    socket.on(name, succeed);
    socket.on("close", close);
    socket.on("error", (error) => {
      settle();
      socket.destroy();
      reject(error);
    });
  });
}

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
