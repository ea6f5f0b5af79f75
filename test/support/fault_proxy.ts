import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** What is done to connections from now on, open ones included. */
export type Fault =
  /** Everything goes through. */
  | { readonly kind: "pass" }
  /** Each packet arrives so much later, in both directions and in order. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Each cancel request arrives so much later. */
  | { readonly kind: "delay_cancels"; readonly ms: number }
  /** No cancel request arrives until this ends. */
  | { readonly kind: "hold_cancels" }
  /** Each cancel request is lost, and its connection is closed as if it had been handled in error. */
  | { readonly kind: "reset_cancels" }
  /**
   * Nothing goes through, nothing is closed; new ones are accepted. Afterwards those of that
   * time are reset, or silent for ever, as when something between has forgotten them.
   */
  | { readonly kind: "black_hole"; readonly silent?: boolean }
  /** Accepted, and closed at once (FIN). */
  | { readonly kind: "accept_and_close" }
  /** The port is closed. */
  | { readonly kind: "refuse" }
  /** One connection is cut off, with FIN or RST, after so many more bytes of the server. */
  | { readonly kind: "cut"; readonly how: "fin" | "rst"; readonly afterBytes: number }
  /** Each connection is cut off with FIN after so many bytes of the server. */
  | { readonly kind: "cut_always"; readonly afterBytes: number }
  /** Cut off in the middle of the next row that the server sends. */
  | { readonly kind: "cut_row"; readonly how: "fin" | "rst" };

/** A peer between a client and Postgres, of real sockets. */
export interface FaultProxy {
  readonly port: number;
  /** The given URL, through this proxy. */
  readonly through: (url: string) => string;
  /** Breaks the connections while the body runs, and mends what can be mended, however the body ends. */
  readonly during: <T>(fault: Fault, body: () => Promise<T>) => Promise<T>;
  /** Ends all connections that stand. */
  readonly drop: (how: "fin" | "rst") => void;
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Cancel requests that are held. */
  readonly heldCancels: () => number;
  /** Packets that the clients sent so far. */
  readonly packets: () => number;
  /** How often a client has sent something and had an answer since. */
  readonly roundTrips: () => number;
  readonly stop: () => Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Bytes of the server so far. */
  answered: number;
  /** The client has sent something since. */
  asked: boolean;
  /** Nothing goes through ever again. */
  silent: boolean;
}

/** The message type of a row. */
const DATA_ROW = 0x44;
const CANCEL_CODE = 80877102;

/** Starts a proxy before the server of a URL, on a free port of the loopback. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const pairs = new Set<Pair>();
  let fault: Fault = { kind: "pass" };
  let connections = 0;
  let packets = 0;
  const held: (() => void)[] = [];
  let roundTrips = 0;
  let bytesLeft = 0;

  const listener = createServer((client) => {
    connections++;
    client.setNoDelay(true).on("error", () => {});
    if (fault.kind === "accept_and_close") {
      client.resume().end();
      return;
    }
    const server = connect(Number(targetPort), hostname).setNoDelay(true).on("error", () => {});
    const pair: Pair = { client, server, answered: 0, asked: false, silent: false };
    pairs.add(pair);
    client.on("data", (data) => {
      packets++;
      pair.asked = true;
      if (isCancel(data) && fault.kind === "reset_cancels") return end(pair, "rst");
      if (isCancel(data) && fault.kind === "delay_cancels") {
        setTimeout(() => server.write(data), fault.ms);
        return;
      }
      if (isCancel(data) && fault.kind === "hold_cancels") {
        held.push(() => server.write(data));
        return;
      }
      if (fault.kind !== "black_hole" && !pair.silent) carry(data, server);
    });
    server.on("data", (data) => {
      if (pair.asked) roundTrips++;
      pair.asked = false;
      respond(data, pair);
    });
    for (const [one, other] of [[client, server], [server, client]] as const) {
      one.on("close", () => {
        // Behind a black hole one end does not learn that the other has closed.
        if (fault.kind === "black_hole" || pair.silent) return;
        pairs.delete(pair);
        other.end();
      });
    }
  });

  function respond(data: Uint8Array, pair: Pair): void {
    if (fault.kind === "black_hole" || pair.silent) return;
    const length = cutLength(data, pair);
    if (length === undefined) return carry(data, pair.client);
    const how = "how" in fault ? fault.how : "fin";
    if (fault.kind !== "cut_always") fault = { kind: "pass" };
    pair.client.write(data.subarray(0, length), () => end(pair, how));
  }

  /** How much of a packet is still let through when it is the last. */
  function cutLength(data: Uint8Array, pair: Pair): number | undefined {
    if (fault.kind === "cut") {
      bytesLeft -= data.length;
      return bytesLeft >= 0 ? undefined : data.length + bytesLeft;
    }
    if (fault.kind === "cut_always") {
      const left = Math.max(0, fault.afterBytes - pair.answered);
      pair.answered += data.length;
      return left < data.length ? left : undefined;
    }
    if (fault.kind !== "cut_row") return undefined;
    const row = findRow(data);
    return row === undefined ? undefined : row + 8;
  }

  function carry(data: Uint8Array, to: Socket): void {
    if (fault.kind !== "delay") to.write(data);
    else setTimeout(() => to.write(data), fault.ms);
  }

  function end({ client, server }: Pair, how: "fin" | "rst"): void {
    if (how === "rst") client.resetAndDestroy();
    else client.end();
    server.destroy();
  }

  const listen = (port: number) =>
    new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = listener.address() as AddressInfo;

  function drop(how: "fin" | "rst"): void {
    for (const pair of pairs) end(pair, how);
    pairs.clear();
  }

  async function set(next: Fault): Promise<void> {
    // A connection that was in a black hole does not recover.
    if (fault.kind === "black_hole") {
      if (fault.silent) { for (const pair of pairs) pair.silent = true; }
      else drop("rst");
    }
    fault = next;
    for (const send of held.splice(0)) send();
    bytesLeft = next.kind === "cut" ? next.afterBytes : 0;
    if (next.kind === "refuse") {
      drop("rst");
      listener.close();
    } else if (!listener.listening) await listen(port);
    if (next.kind === "accept_and_close") drop("fin");
  }

  async function during<T>(next: Fault, body: () => Promise<T>): Promise<T> {
    const before = fault;
    await set(next);
    try {
      return await body();
    } finally {
      await set(before);
    }
  }

  async function stop(): Promise<void> {
    await set({ kind: "pass" });
    drop("rst");
    if (!listener.listening) return;
    await new Promise((resolve) => listener.close(resolve));
  }

  const through = (url: string) => {
    const changed = new URL(url);
    changed.host = `127.0.0.1:${port}`;
    return changed.href;
  };
  const counts = {
    connections: () => connections,
    heldCancels: () => held.length,
    packets: () => packets,
    roundTrips: () => roundTrips,
  };
  return { port, through, during, drop, ...counts, stop };
}

/** Reports whether a packet asks Postgres to cancel what a session runs. */
function isCancel(data: Uint8Array): boolean {
  if (data.length !== 16) return false;
  return new DataView(data.buffer, data.byteOffset, data.length).getInt32(4) === CANCEL_CODE;
}

/** Returns where a row begins in a packet that begins with a whole message. */
function findRow(data: Uint8Array): number | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  for (let at = 0; at + 5 <= data.length; at += 1 + view.getUint32(at + 1)) {
    if (data[at] === DATA_ROW) return at;
  }
  return undefined;
}
