import { connect, type Socket } from "node:net";

/** A connection on which bytes are sent as they are. */
export interface RawClient {
  readonly send: (data: string | Uint8Array) => void;
  /** Returns all that has come once the pattern is in it, or the connection ended, or time is up. */
  readonly read: (pattern: RegExp, withinMs?: number) => Promise<string>;
  readonly isOpen: () => boolean;
  /** Ends it with an RST, which leaves no port in TIME_WAIT. */
  readonly close: () => void;
}

/** Connects to a server; many at a time need source addresses of their own. */
export async function openRawClient(address: string, source = "127.0.0.1"): Promise<RawClient> {
  const { hostname: host, port } = new URL(address);
  let received = "";
  let open = true;
  let changed = () => {};
  const socket = await new Promise<Socket>((resolve, reject) => {
    const connecting = connect({ host, port: Number(port), localAddress: source });
    connecting.once("connect", () => resolve(connecting));
    connecting.once("error", reject);
  });
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    changed();
  });
  socket.on("close", () => {
    open = false;
    changed();
  });

  async function read(pattern: RegExp, withinMs = 20_000): Promise<string> {
    const end = performance.now() + withinMs;
    while (open && !pattern.test(received) && performance.now() < end) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - performance.now());
        changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return received;
  }

  return {
    send: (data) => void (open && socket.write(data)),
    read,
    isOpen: () => open,
    close: () => void socket.resetAndDestroy(),
  };
}
