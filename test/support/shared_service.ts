import process from "node:process";
import type { DatabaseKind } from "./database.ts";
import { createTestService, type TestService } from "./service.ts";

const shared = new Map<DatabaseKind, Promise<TestService>>();

/**
 * Lends the service that all groups of tests of this worker share which only read: to open one costs
 * more than most of them. It is an ordinary one, but a test that writes to it fails, be it through the
 * service or as superuser, so no group depends on those before it. It stays open until the worker ends:
 * what is in the worker ends with it, and the run ends the cluster.
 */
export async function borrowService(kind: DatabaseKind): Promise<TestService> {
  const opening = shared.get(kind) ?? open(kind);
  shared.set(kind, opening);
  const service = await opening;
  service.forget();
  return service;
}

async function open(kind: DatabaseKind): Promise<TestService> {
  const service = await createTestService(kind, { readOnly: true });
  const { server } = service;
  // No more than a signal can be sent here: the worker waits for nothing now.
  if (server !== undefined) {
    globalThis.addEventListener("unload", () => process.kill(server.pid, "SIGTERM"));
  }
  return service;
}
