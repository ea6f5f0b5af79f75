import { connect, type Socket } from "node:net";

/** Opens connections that send nothing; returns a function that closes them. */
export async function openIdle(address: string, count: number): Promise<() => void> {
  const { hostname, port } = new URL(address);
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    // A server drops a connection without a first request sooner than an idle one.
    socket.write("GET /livez HTTP/1.1\r\nHost: bench\r\n\r\n");
    await new Promise<void>((resolve) => socket.once("data", () => resolve()));
    socket.on("error", () => {});
    sockets.push(socket);
  }
  return () => sockets.forEach((socket) => socket.destroy());
}
