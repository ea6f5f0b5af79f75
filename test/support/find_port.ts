import { type AddressInfo, createServer } from "node:net";

/** Returns a port that is free on every address. Another process may take it before it is used. */
export function findPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
