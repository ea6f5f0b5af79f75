import { connect } from "node:net";

/** How long a server may be silent before what it has said counts as all. */
const SILENCE_MS = 3000;

/**
 * Sends bytes as they are over one TCP connection, and returns all that came back until the server
 * closed it or was silent, as Latin-1.
 */
export function sendBytes(address: string, text: string): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(text, "latin1");
    });
    const end = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(SILENCE_MS, end);
    socket.on("data", (chunk) => received += chunk.toString("latin1"));
    socket.on("error", end);
    socket.on("close", end);
  });
}

/** The statuses of the responses in what came back. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map((match) => Number(match[1]));
}
