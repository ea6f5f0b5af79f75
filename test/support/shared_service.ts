import type { DatabaseKind } from "./database.ts";
import { createTestService, type TestService } from "./service.ts";

const shared = new Map<DatabaseKind, Promise<TestService>>();

/**
 * Lends the service that all groups of tests of this worker share which only read: to open one costs
 * more than most of them. It is an ordinary one, but a test that writes to it fails, be it through the
 * service or as superuser, so no group depends on those before it. It stays open until the worker ends,
 * when Deno kills its server; its database in the cluster ends with the run.
 */
export async function borrowService(kind: DatabaseKind): Promise<TestService> {
  const opening = shared.get(kind) ?? createTestService(kind, { readOnly: true });
  shared.set(kind, opening);
  const service = await opening;
  service.forget();
  return service;
}
