import { assert, assertEquals } from "@std/assert";
import { applyChanges, type ChangesBody, type Copy } from "../../support/feeds.ts";
import type { TestService } from "../../support/service.ts";
import { openReader } from "./reader.ts";

/** A client of a tenant that keeps a copy of a table. */
export interface Follower {
  /** Applies what has changed; it waits while the service is unavailable, and begins again after a 410. */
  readonly catchUp: () => Promise<void>;
  /** Catches up, and compares the copy with the rows of the table, by the given columns. */
  readonly compare: (why: string) => Promise<void>;
  /** Reads one page of so many changes. */
  readonly readPage: (limit: number) => Promise<void>;
  readonly cursor: () => string;
  /** How often it had to begin again. */
  readonly begun: () => number;
}

/** What is followed, and by whom. */
export interface FollowerOptions {
  readonly table: string;
  readonly tenant: number;
  /** What is compared. */
  readonly columns: readonly string[];
}

const PAUSE_MS = 100;
const TRIES = 200;

/** Opens a follower, whose first answer begins with every row. */
export function openFollower(
  service: Pick<TestService, "send" | "database" | "tokens">,
  { table, tenant, columns }: FollowerOptions,
): Follower {
  const token = tenant === 1 ? service.tokens.a : service.tokens.b;
  const reader = openReader({
    send: (method, path, options) => service.send(method, path, { ...options, token }),
  });
  let copy: Copy = new Map();
  let cursor = "start";
  let begun = 0;

  async function readPage(limit: number): Promise<boolean> {
    for (let tries = 0;; tries++) {
      const { status, text, body } = await reader.ask(table, cursor, `&limit=${limit}`);
      if (status === 200) {
        const page = body as unknown as ChangesBody;
        applyChanges(copy, page.changes);
        cursor = page.cursor;
        return page.more;
      }
      if (status === 410) {
        [copy, cursor] = [new Map(), "start"];
        begun++;
        continue;
      }
      assert(status === 503 && tries < TRIES, text);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async function catchUp(): Promise<void> {
    while (await readPage(300));
  }

  async function compare(why: string): Promise<void> {
    await catchUp();
    const print = (row: Record<string, unknown>) =>
      JSON.stringify(columns.map((name) => row[name]));
    const rows = await service.database.admin.unsafe(
      `select row_to_json(t)::text as row from ${table} t where tenant_id = ${tenant}`,
    );
    assertEquals(
      [...copy.values()].map(print).sort(),
      rows.map(({ row }) => print(JSON.parse(row))).sort(),
      `tenant ${tenant}, ${why}`,
    );
  }

  return {
    catchUp,
    compare,
    readPage: async (limit) => void await readPage(limit),
    cursor: () => cursor,
    begun: () => begun,
  };
}
