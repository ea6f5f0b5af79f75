import { readFile } from "node:fs/promises";
import { connect, isIP } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Address, Encryption } from "./connection.ts";

/** Asks Postgres whether it encrypts; the answer is one byte. */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);
const YES = 0x53;
const NO = 0x4e;

const KEEP_ALIVE_MS = 30_000;

/**
 * Opens a socket to Postgres, encrypted as it is asked for; the driver begins a session on it. An
 * abort destroys it, whatever it waits for.
 * @throws {Error} with the runtime's `code`, or `SSL_REFUSED`, `SSL_NOT_ANSWERED`, `SSL_ROOT_CERT`
 * @see D7
 */
export async function openSocket(
  address: Address,
  encryption: Encryption,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ ...address, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  await happen(socket, "connect");
  socket.setNoDelay(true);
  // A socket in the file system is not encrypted, as in libpq.
  if (encryption.mode === "off" || "path" in address) return socket;
  socket.write(SSL_REQUEST);
  const answer = await happen(socket, "data") as Uint8Array;
  if (answer.length === 1 && answer[0] === YES) return encrypt(socket, address.host, encryption);
  if (answer[0] === NO && encryption.mode === "prefer") return socket;
  socket.destroy();
  throw codeError(answer[0] === NO ? "SSL_REFUSED" : "SSL_NOT_ANSWERED");
}

async function encrypt(socket: Socket, host: string, encryption: Encryption): Promise<Socket> {
  const { mode, rootFile } = encryption;
  const encrypted = connectTls({
    socket,
    rejectUnauthorized: mode === "verify",
    // The name to verify; an address is none, and would otherwise be taken for "localhost".
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    ...(rootFile === undefined ? {} : { ca: await readRoot(rootFile) }),
  });
  await happen(encrypted, "secureConnect");
  return encrypted;
}

async function readRoot(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw codeError("SSL_ROOT_CERT");
  }
}

/** Waits for the next event of a name; rejects when the socket ends instead. */
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
