import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { createTestService, type ServiceOptions, type TestService } from "../../support/service.ts";

/** The whole service, and a proxy that can be broken between it and its database. */
export interface FaultyService extends TestService {
  readonly proxy: FaultProxy;
}

/** Makes a service whose every connection goes through a proxy. */
export async function createFaultyService(
  options: Omit<ServiceOptions, "route"> = {},
): Promise<FaultyService> {
  let proxy: FaultProxy | undefined;
  const service = await createTestService("real", {
    ...options,
    route: async (url) => {
      proxy = await startFaultProxy(url);
      return proxy.through(url);
    },
  });
  const started = proxy!;
  return {
    ...service,
    proxy: started,
    close: async () => {
      await started.set({ kind: "pass" });
      await service.close();
      await started.stop();
    },
  };
}
