import { type AddressInfo, createServer } from "node:net";

/** Where a service is to listen. */
export interface Address {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/**
 * Looks whether the port is free, and gives it; of several processes that share one, none would find
 * out that another service has it.
 * @throws {Error} when the address can not be listened on; its `code` says why
 */
export async function claimPort({ host, port }: Address): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: claimed } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return claimed;
}
