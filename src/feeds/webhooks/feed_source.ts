import type { Catalogue, Table } from "../../catalogue/catalogue.ts";
import { resolveTable } from "../../catalogue/resolve.ts";
import type { Changes } from "../changes/changes.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import { hasView } from "../changes/table_scope.ts";
import { rejectNoFeed } from "../changes/feed_errors.ts";
import { type ChangesPlan, planChanges } from "../../records/plan/changes_plan.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { ChangeSource, ReadPosition } from "./change_source.ts";

/** How long one wait takes; the next one follows it. */
const WAIT_MS = 60_000;
/** Time until a table or a database that could not be read is tried again. */
const AGAIN_MS = 5000;

/** What the feeds are read with. */
export interface FeedSourceOptions {
  readonly changes: Changes;
  readonly catalogue: () => Catalogue | Promise<Catalogue>;
}

/**
 * Reports whether a text is a valid start in the feed of a table for a tenant: `start`, `now`, or one
 * of their cursors.
 */
export async function isCursorOf(
  changes: Changes,
  { text, table, tenant }: {
    readonly text: string;
    readonly table: Table;
    readonly tenant: string;
  },
): Promise<boolean> {
  const plan = planPage({ access: ofTenant(tenant), table, limit: 1 });
  try {
    await changes.open(text, plan);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return false;
    throw error;
  }
}

/** Opens the changes feeds of the service as the source of webhooks. @see WH2 */
export function openFeedSource({ changes, catalogue }: FeedSourceOptions): ChangeSource {
  async function begin(access: Access, table: Table): Promise<string> {
    const plan = planPage({ access, table, limit: 1 });
    const { position } = await changes.read(plan, "now");
    return await changes.seal(position, plan);
  }

  async function read(asked: ReadPosition) {
    const plan = planPage(asked);
    const since = await changes.open(asked.cursor, plan);
    const { changes: lines, position, more } = await changes.read(plan, since);
    const cursor = await changes.seal(position, plan);
    return { changes: `[${lines.join(",")}]`, count: lines.length, cursor, more };
  }

  async function isOfView(
    { access, table, cursor }: Pick<ReadPosition, "access" | "table" | "cursor">,
  ): Promise<boolean> {
    try {
      const since = await changes.open(cursor, planPage({ access, table, limit: 1 }));
      return typeof since === "object" && hasView(since.shape, table);
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }

  function watch(
    { table: name, tenant }: { readonly table: string; readonly tenant: string },
    changed: () => void,
  ): () => void {
    const ended = new AbortController();
    const client = { signal: ended.signal };
    void follow();
    return () => ended.abort();

    async function follow(): Promise<void> {
      while (!ended.signal.aborted && !changes.closed()) {
        // Changes until now were not watched.
        changed();
        try {
          await followTable();
        } catch {
          // The deliveries themselves report what is wrong.
        }
        await pause(AGAIN_MS, ended.signal);
      }
    }

    /** Follows the table until it no longer can. */
    async function followTable(): Promise<void> {
      const target = { access: ofTenant(tenant), operation: "query" } as const;
      const table = resolveTable(await catalogue(), name, target);
      const plan = planPage({ access: target.access, table, limit: 1 });
      let { position } = await changes.read(plan, "now");
      changed();
      while (!ended.signal.aborted && !changes.closed()) {
        const untilMs = performance.now() + WAIT_MS;
        const waited = await changes.wait({ plan, position, client, untilMs });
        if (waited.kind !== "changed" && waited.kind !== "idle") return;
        position = waited.position;
        if (waited.kind === "idle") continue;
        position = (await changes.read(plan, "now")).position;
        // Called after the position was taken: earlier commits are not found from there.
        changed();
      }
    }
  }

  return { begin, read, isOfView, watch };
}

function planPage(
  { access, table, limit, keyOnly = false }: Pick<ReadPosition, "access" | "table" | "limit"> & {
    readonly keyOnly?: boolean;
  },
): ChangesPlan {
  if (table.feed === undefined) throw rejectNoFeed(table.name);
  const fields = keyOnly ? table.primaryKey.map(({ name }) => name) : [];
  return planChanges({ fields, limit }, { table, access });
}

/** Makes an access for reading positions in a feed. It is used for no rows. */
function ofTenant(tenant: string): Access {
  return {
    tenant,
    tokenId: "",
    name: null,
    scopes: ["query"],
    tables: null,
    expiresAt: null,
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
