import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { type Changes, openChanges, type Since } from "../../../src/feeds/changes/changes.ts";
import type { SnapshotStandbys } from "../../../src/feeds/changes/read_on_standby.ts";
import { parseFeedPosition, printFeedPosition } from "../../../src/feeds/changes/position.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import type { Table } from "../../../src/catalogue/catalogue.ts";
import { planChanges } from "../../../src/records/plan/changes_plan.ts";
import type { Compile, Database } from "../../../src/database/postgres/database.ts";
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { applyChanges, type Change, type Copy } from "../../support/feeds.ts";
import type { Random } from "./law_statements.ts";
import { pause, within } from "./law_writer.ts";

/** What a follower has seen, so far or in all. */
export interface Followed {
  /** How often `more` was false, and the copy was compared with the table. */
  compared: number;
  changes: number;
  /** How often it had to begin again. */
  expired: number;
  /** How often it went back to an older cursor, with the copy of that time. */
  rewound: number;
  /** How often its service was another one than before. */
  reopened: number;
}

/**
 * A database on which each statement runs in a transaction of its own that keeps its snapshot: then the
 * table can be read as the statement saw it.
 */
function openSnapshots(url: string, { name, tenant }: { name: string; tenant: string }) {
  let sql = connect(url);
  let table: Copy = new Map();

  async function run(compile: Compile): Promise<Record<string, unknown>[]> {
    try {
      return await within(readInSnapshot(compile));
    } catch (error) {
      void sql.end({ timeout: 0 }).catch(() => {});
      sql = connect(url);
      throw error;
    }
  }

  // Not by `begin` of the driver (3.4.9): it sends its rollback to a session that has died as well, and
  // throws where nothing can catch it. On Deno (2.9) the process may then run no `setImmediate` any more.
  async function readInSnapshot(compile: Compile): Promise<Record<string, unknown>[]> {
    await sql.unsafe("begin isolation level repeatable read read only");
    // A snapshot from before the lock would see the table empty while a TRUNCATE that it waited for is
    // not in it yet. A statement of the service takes its snapshot behind its locks.
    await sql.unsafe(`lock table ${name} in access share mode`);
    const begun = await readSession();
    const rows = await compile(sql as unknown as Sql);
    const key = name === "lines" ? "item_id, line_no" : "id";
    const found = await sql.unsafe(
      `select (select row_to_json(k) from (select ${key}) k)::text key,
      row_to_json(t)::text record from ${name} t where tenant_id = $1`,
      [tenant],
    );
    // The driver opens another session by itself, which knows nothing of the transaction.
    if (await readSession() !== begun) throw Object.assign(new Error("lost"), { code: "LOST" });
    await sql.unsafe("commit");
    table = new Map(found.map((row) => [
      JSON.stringify(JSON.parse(row["key"])),
      JSON.parse(row["record"]),
    ]));
    return [...rows] as Record<string, unknown>[];
  }

  async function readSession(): Promise<unknown> {
    const [row] = await sql.unsafe("select pg_backend_pid() as pid");
    return row!["pid"];
  }

  const database = { run } as unknown as Database;
  return { database, table: () => table, close: () => sql.end({ timeout: 1 }) };
}

function connect(url: string) {
  return postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2, fetch_types: false });
}

/**
 * Follows a table as a client does, and compares its copy with the table each time that `more` is false.
 * @throws {Error} when they differ, or a record is of another tenant
 */
export async function followTable(
  url: string,
  { table, tenant, random, stopping, first, standbys, startAgain = 0, seen }: {
    readonly table: Table;
    readonly tenant: string;
    readonly random: Random;
    readonly stopping: () => boolean;
    readonly first: "start" | "now";
    /** Where rows of the table may be read. */
    readonly standbys?: SnapshotStandbys;
    /** How often it begins again with every row, once it has caught up; of 1. */
    readonly startAgain?: number;
    /** Gets what this follower sees, while it goes on. */
    readonly seen: Followed[];
  },
): Promise<void> {
  const snapshots = openSnapshots(url, { name: table.name, tenant });
  const open = () =>
    openChanges(snapshots.database, { observe: () => {}, tenantSetting: undefined, standbys });
  let changes: Changes = open();
  const followed: Followed = { compared: 0, changes: 0, expired: 0, rewound: 0, reopened: 0 };
  seen.push(followed);
  let copy: Copy = new Map();
  let since: Since = first;
  let saved: { readonly copy: Copy; readonly position: string } | undefined;
  let isLast = false;
  let failures = 0;
  while (!isLast) {
    isLast = stopping();
    if (random() < 0.05) {
      changes.close();
      changes = open();
      followed.reopened++;
    }
    for (let more = true; more;) {
      const limit = random() < 0.5 ? 1 + Math.floor(random() * 20) : 1000;
      const access = { tenant } as never;
      const plan = planChanges({ fields: [], limit }, { table, access });
      try {
        const page = await changes.read(plan, since);
        const given = page.changes.map((text) => JSON.parse(text) as Change);
        assertOnce(given);
        for (const { record } of given) {
          if (record !== null) assertEquals(record["tenant_id"], tenant);
        }
        // From now on: what was there before is taken as it was at that moment.
        if (since === "now") copy = new Map(snapshots.table());
        applyChanges(copy, given);
        followed.changes += given.length;
        more = page.more;
        // Each page goes through a cursor, as after a restart of the service.
        since = parseFeedPosition(printFeedPosition(page.position));
        if (!more) {
          assertSame(copy, snapshots.table(), `${table.name} of ${tenant}`);
          followed.compared++;
        }
        if (random() < 0.05) saved = { copy: new Map(copy), position: printFeedPosition(since) };
      } catch (error) {
        if (error instanceof ApiError && error.status === 410) {
          followed.expired++;
          [copy, since, saved] = [new Map(), "start", undefined];
        } else if (error instanceof Error && error.name === "PostgresError" || isLost(error)) {
          if (failures++ > 60) throw error;
          await pause(300);
        } else throw error;
      }
      if (!more && saved !== undefined && random() < 0.1) {
        [copy, since] = [new Map(saved.copy), parseFeedPosition(saved.position)];
        followed.rewound++;
      }
      if (!more && random() < startAgain) [copy, since] = [new Map(), "start"];
    }
    await pause(random() * 40);
  }
  await snapshots.close();
}

/** A failure of the connection has a code; one of an assertion has none. */
function isLost(error: unknown): boolean {
  return error instanceof Error && typeof (error as { code?: unknown }).code === "string";
}

function assertOnce(changes: readonly Change[]): void {
  const keys = changes.map(({ key }) => JSON.stringify(key));
  assertEquals(new Set(keys).size, keys.length, "a key occurs twice in one answer");
}

function assertSame(copy: Copy, table: Copy, where: string): void {
  for (const [key, record] of table) {
    assertEquals(copy.get(key), record, `${where}: ${key} of the table`);
  }
  for (const key of copy.keys()) {
    if (!table.has(key)) throw new Error(`${where}: ${key} is in the copy, not in the table`);
  }
}
