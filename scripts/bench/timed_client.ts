import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import type { Ask } from "./contender.ts";
import { VARYING } from "./work.ts";

/** One request and its answer, in milliseconds. */
export interface Timing {
  /** Its number in the list of requests, which is sent again and again. */
  readonly number: number;
  readonly startMs: number;
  /** From the start to the last byte of the answer; the first on a connection contains connecting. */
  readonly tookMs: number;
}

/** Who is asked, for how long, and from where in the list of requests. */
export interface TimedOptions {
  readonly address: string;
  readonly asks: readonly Ask[];
  readonly concurrency: number;
  readonly seconds: number;
  /** Ends after so many requests, if the time is not over before. */
  readonly count?: number;
  /** The request to begin with. */
  readonly from: number;
}

/**
 * Sends requests over connections that are opened for it, each with one request at a time, and gives the
 * time of every one in the order of their starts. wrk measures more requests a second, but prints only
 * aggregates.
 * @throws {Error} when a response is not 2xx, or a connection ends
 */
export async function sendTimed(options: TimedOptions): Promise<Timing[]> {
  const { address, asks, concurrency, seconds, count = Infinity } = options;
  const { host, hostname, port } = new URL(address);
  const timings: Timing[] = [];
  let at = options.from;
  const end = performance.now() + seconds * 1000;

  async function run(): Promise<void> {
    let startMs = performance.now();
    const connection = await open(hostname, Number(port));
    while (startMs < end && at < options.from + count) {
      const number = at++;
      const status = await connection.send(printRequest(asks[number % asks.length]!, host, number));
      if (status < 200 || status > 299) throw new Error(`${address} answered ${status}`);
      const nowMs = performance.now();
      timings.push({ number, startMs, tookMs: nowMs - startMs });
      startMs = nowMs;
    }
    connection.close();
  }

  await Promise.all(Array.from({ length: concurrency }, run));
  return timings.toSorted((a, b) => a.startMs - b.startMs);
}

/** Prints a request with a number of its own, as it goes over the wire. */
export function printRequest(
  { method, path, headers, body }: Ask,
  host: string,
  number: number,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  // Eight digits like the placeholder, so that no row keeps its value.
  const text = body.replaceAll(VARYING, String(10_000_000 + number % 80_000_000));
  const length = text === "" ? "" : `Content-Length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}${length}\r\n${text}`;
}

/** A connection that waits for each answer before the next request. */
interface Connection {
  /** Gives the status of the answer once its last byte has come. */
  readonly send: (text: string) => Promise<number>;
  readonly close: () => void;
}

async function open(host: string, port: number): Promise<Connection> {
  let received = "";
  let settle: ((status: number | Error) => void) | undefined;
  const fail = (error: Error) => settle?.(error);
  const socket = await new Promise<Socket>((resolve, reject) => {
    const connecting = connect({ host, port, noDelay: true });
    connecting.once("connect", () => resolve(connecting));
    connecting.once("error", reject);
  });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error(`${host}:${port} closed the connection`)));
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    const status = readStatus(received);
    if (status === undefined) return;
    received = "";
    settle?.(status);
  });
  return {
    send: (text) =>
      new Promise((resolve, reject) => {
        settle = (status) => typeof status === "number" ? resolve(status) : reject(status);
        socket.write(text);
      }),
    close: () => socket.destroy(),
  };
}

/** Gives the status of a response of which each character is a byte; undefined while bytes are missing. */
export function readStatus(text: string): number | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length - end - 4 < Number(length) ? undefined : status;
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return status;
  // One answer at a time: what ends with the last chunk is whole.
  return text.endsWith("\r\n0\r\n\r\n") ? status : undefined;
}
