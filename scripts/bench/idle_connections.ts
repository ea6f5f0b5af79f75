import { connect, type Socket } from "node:net";

/** Opens connections that ask nothing; gives what closes them. */
export async function openIdle(address: string, count: number): Promise<() => void> {
  const { hostname, port } = new URL(address);
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    // A connection that has never asked is dropped sooner than one that waits for its next request.
    socket.write("GET /livez HTTP/1.1\r\nHost: bench\r\n\r\n");
    await new Promise<void>((resolve) => socket.once("data", () => resolve()));
    socket.on("error", () => {});
    sockets.push(socket);
  }
  return () => sockets.forEach((socket) => socket.destroy());
}
