import { type AddressInfo, createServer } from "node:net";

/** Gives a port that is free now. */
export function findPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    })
  );
}
