import { connect } from "node:net";

/**
 * Asks a server on this machine and gives the status of its answer; undefined when it does not
 * answer in time. It uses a socket because `fetch` and `node:http` go through HTTP_PROXY on some
 * runtimes, which cannot reach this machine.
 */
export function askStatus(url: string, timeoutMs: number): Promise<number | undefined> {
  const { hostname, port, host, pathname } = new URL(url);
  return new Promise((resolve) => {
    const address = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
    const socket = connect(address);
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    let answer = "";
    socket.on("connect", () => {
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (chunk) => answer += new TextDecoder().decode(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      const [, status] = /^HTTP\/1\.\d (\d{3})\b/.exec(answer) ?? [];
      resolve(status === undefined ? undefined : Number(status));
    });
  });
}
