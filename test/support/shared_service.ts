import type { DatabaseKind } from "./database.ts";
import { type SavedRows, saveRows } from "./saved_rows.ts";
import { createTestService, type TestService } from "./service.ts";

/**
 * What the tests of a group write in a database that groups share: rows, or rows and tables of their own,
 * whose names no other group gives.
 */
export type Writes = "nothing" | "rows" | "tables";

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

const shared = new Map<string, Promise<SharedService>>();

/**
 * Lends a service that groups of tests of this worker share: to open one costs more than most of them.
 * It is an ordinary one. No group depends on those before it: a test that writes what its group may not
 * fails, be it through the service or as superuser, and after a group that may write, the rows are
 * restored. Groups that make tables share another service than those that do not, so that these see the
 * tables of the fixture alone. A service stays open until the worker ends, when Deno kills its server;
 * its database in the cluster ends with the run.
 */
export async function borrowService(kind: DatabaseKind, writes: Writes): Promise<Borrowed> {
  const newTables = writes === "tables";
  const key = `${kind} ${newTables}`;
  const opening = shared.get(key) ?? open(kind);
  shared.set(key, opening);
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
        await lent.saved?.restore({ newTables });
      } catch (error) {
        shared.delete(key);
        await service.close();
        throw error;
      }
    },
  };
}

async function open(kind: DatabaseKind): Promise<SharedService> {
  return { service: await createTestService(kind), saved: undefined };
}
