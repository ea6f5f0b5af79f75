import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { createTestService, type ServiceOptions, type TestService } from "../../support/service.ts";

/** The whole service, and a proxy that can be broken between it and its database. */
export interface FaultyService extends TestService {
  readonly proxy: FaultProxy;
}

/** How a faulty service differs from another. */
interface FaultyOptions extends Omit<ServiceOptions, "route"> {
  /** Returns the URL that the service asks, of its database's and that through the proxy. */
  readonly before?: (url: string, through: string) => Promise<string>;
}

/** Makes a service whose every connection goes through a proxy. */
export async function createFaultyService(
  { before, ...options }: FaultyOptions = {},
): Promise<FaultyService> {
  let proxy: FaultProxy | undefined;
  const service = await createTestService("real", {
    ...options,
    route: async (url) => {
      proxy = await startFaultProxy(url);
      const through = proxy.through(url);
      return await before?.(url, through) ?? through;
    },
  });
  const started = proxy!;
  return {
    ...service,
    proxy: started,
    close: async () => {
      // Postgres drops no database while a connection is still in its first bytes.
      started.drop("rst");
      await service.close();
      await started.stop();
    },
  };
}
