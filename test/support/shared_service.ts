import type { DatabaseKind } from "./database.ts";
import { type SavedRows, saveRows } from "./saved_rows.ts";
import { createTestService, type TestService } from "./service.ts";

/** What the tests of a group write in a database that groups share. */
export type Writes = "nothing" | "rows";

/** A service that is lent to one group of tests after the other. */
interface SharedService {
  readonly service: TestService;
  /** Undefined until the first group borrows it that may write. */
  saved: SavedRows | undefined;
}

/** What a group of tests borrowed. */
export interface Borrowed {
  readonly service: TestService;
  /** Gives it back, with the rows as they were. */
  readonly giveBack: () => Promise<void>;
}

const shared = new Map<DatabaseKind, Promise<SharedService>>();

/**
 * Lends a service that groups of tests of this worker share: to open one costs more than most of them.
 * It is an ordinary one. No group depends on those before it: a test that writes what its group may not
 * fails, be it through the service or as superuser, and after a group that may write, the rows are
 * restored. Groups that make tables have services of their own: after each request that writes, all tables
 * of its database are looked at, and with those of the groups before, some groups took six times as long.
 * A service stays open until the worker ends, when Deno kills its server; its database in the cluster ends
 * with the run.
 */
export async function borrowService(kind: DatabaseKind, writes: Writes): Promise<Borrowed> {
  const opening = shared.get(kind) ?? open(kind);
  shared.set(kind, opening);
  const lent = await opening;
  const { service } = lent;
  const { admin, rows } = service.database;
  service.forget();
  rows.setReadOnly(writes === "nothing");
  if (writes !== "nothing") lent.saved ??= await saveRows(admin);
  return {
    service,
    giveBack: async () => {
      if (writes === "nothing") return;
      try {
        await lent.saved?.restore();
      } catch (error) {
        shared.delete(kind);
        await service.close();
        throw error;
      }
    },
  };
}

async function open(kind: DatabaseKind): Promise<SharedService> {
  return { service: await createTestService(kind), saved: undefined };
}
