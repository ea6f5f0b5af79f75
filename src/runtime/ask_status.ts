import { connect } from "node:net";

/**
 * Asks a server on this machine and gives the status of its answer; undefined when it does not
 * answer in time. Over a socket: `fetch` and `node:http` would, on one runtime or another, ask through
 * HTTP_PROXY, which knows nothing of this machine.
 */
export function askStatus(url: string, timeoutMs: number): Promise<number | undefined> {
  const { hostname, port, host, pathname } = new URL(url);
  return new Promise((resolve) => {
    const address = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
    const socket = connect(address);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    let told = "";
    socket.on("connect", () => {
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (chunk) => told += new TextDecoder().decode(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      const [, status] = /^HTTP\/1\.\d (\d{3})\b/.exec(told) ?? [];
      resolve(status === undefined ? undefined : Number(status));
    });
  });
}
