import { explainNoFeed } from "../../src/feeds/changes/feed_statements.ts";
import { findTarget, readStatus } from "../../src/feeds/changes/find_feeds.ts";
import { disableFeeds, enableFeed } from "../../src/feeds/changes/manage_feeds.ts";
import type { Table } from "../../src/catalogue/catalogue.ts";
import type { TestService } from "./service.ts";
import { waitUntil } from "./wait_until.ts";

/** The parts of a test service that enabling needs. */
type Subject = Pick<TestService, "owner" | "catalogue">;

/** Enables the feeds of tables, as `rowgate changes enable` does, and has the service see them. */
export async function enableFeeds(
  service: Subject,
  names: readonly string[],
): Promise<void> {
  const { owner, catalogue } = service;
  const seen = await catalogue.current();
  for (const name of names) {
    const table = seen.tables.get(name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    const { target, obstacle } = await findTarget(owner, table);
    const reason = explainNoFeed(table) ?? obstacle;
    if (reason !== undefined) throw new Error(`${name}: ${reason}`);
    await enableFeed(owner, target);
  }
  await refresh(service, (tables) =>
    names.every((name) => {
      const feed = tables.get(name)?.feed;
      return feed !== undefined && feed !== seen.tables.get(name)!.feed;
    }));
}

/** Waits until the service, which may be a process of its own, has noticed the feeds of tables. */
export async function awaitFeeds(
  service: Pick<TestService, "send">,
  names: readonly string[],
): Promise<void> {
  await waitUntil(async () => {
    const { body } = await service.send("GET", "/integration/tables");
    const tables = body["tables"] as { name: string; changes: boolean }[];
    return names.every((name) => tables.some((table) => table.name === name && table.changes));
  });
}

/** Disables the feed of a table. */
export async function disableFeed(service: Subject, name: string): Promise<void> {
  const { feeds } = await readStatus(service.owner);
  await disableFeeds(
    service.owner,
    feeds.filter(({ table }) => table === name).map(({ id }) => id),
  );
  await refresh(service, (tables) => tables.get(name)?.feed === undefined);
}

async function refresh(
  { catalogue }: Subject,
  isSeen: (tables: ReadonlyMap<string, Table>) => boolean,
): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const seen = await catalogue.current();
    if (isSeen(seen.tables)) return;
    await catalogue.refresh(seen, { reason: "test" });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the catalogue does not show what was done to a feed");
}

/** What one answer of a feed has. */
export interface ChangesBody {
  readonly success: true;
  readonly table: string;
  readonly changes: readonly Change[];
  readonly cursor: string;
  readonly more: boolean;
}

/** One change. */
export interface Change {
  readonly type: "upsert" | "delete";
  readonly key: Record<string, unknown>;
  readonly record: Record<string, unknown> | null;
}

/** A client's copy of a table: records by the JSON of their key. */
export type Copy = Map<string, Record<string, unknown>>;

/** Applies changes to a copy, in order. */
export function applyChanges(copy: Copy, changes: readonly Change[]): void {
  for (const { type, key, record } of changes) {
    const name = JSON.stringify(key);
    if (type === "delete") copy.delete(name);
    else copy.set(name, record!);
  }
}
