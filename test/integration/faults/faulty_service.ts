import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { createTestService, type TestService } from "../../support/service.ts";

/** The whole service, and a proxy that can be broken between it and its database. */
export interface FaultyService extends TestService {
  readonly proxy: FaultProxy;
}

/** Makes a service whose every connection goes through a proxy. */
export async function createFaultyService(
  environment: Record<string, string> = {},
): Promise<FaultyService> {
  let proxy: FaultProxy | undefined;
  const service = await createTestService("real", {
    environment,
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
