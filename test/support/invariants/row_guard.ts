import postgres from "postgres";
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { compareDigests, type Digests, openDigester } from "./digest_rows.ts";

/** Remembers the rows from before a service was asked, and which tenants wrote since. */
export interface RowGuard {
  /** Notes a request that begins, by which the tenant may write; returns what notes its end. */
  readonly start: (writer: string | undefined) => Promise<() => void>;
  /** Is awaited before a test itself writes. */
  readonly beforeWrite: () => Promise<void>;
  /** Notes that something other than the service has written, or may at any time. */
  readonly afterWrite: () => void;
  /** Lists what changed that should not have, since the last call. */
  readonly check: () => Promise<string[]>;
  /** Sets whether every write is a fault from now on, of the tenant of a request and of the test. */
  readonly setReadOnly: (readOnly: boolean) => void;
  readonly close: () => Promise<void>;
}

/** The rows at one moment. */
interface Snapshot {
  readonly digests: Digests;
  /** The next transaction that writes: as long as it is the same, nothing was written. */
  readonly version: string;
}

/** A table was dropped, altered or locked. */
const CHANGING: ReadonlySet<string> = new Set(["42P01", "42703", "55P03", "40P01", "XX000"]);

/** Whose rows are guarded. */
interface GuardedDatabase {
  readonly url: string | undefined;
  /** The client of an embedded database, which has no URL. */
  readonly admin: Sql;
}

/** Guards the rows of a database. */
export function guardRows({ url, admin }: GuardedDatabase): RowGuard {
  let sql: Sql | undefined = url === undefined ? admin : undefined;
  let digest: (() => Promise<Digests>) | undefined;
  let before: Snapshot | undefined;
  let reading: Promise<void> | undefined;
  let writers = new Set<string>();
  let asked = false;
  let inFlight = 0;
  let writes = 0;
  let readOnly = false;
  let found: string[] = [];

  /** Undefined when a test is changing the tables themselves: nothing can be compared then. */
  async function take(): Promise<Snapshot | undefined> {
    try {
      return await read();
    } catch (error) {
      if (CHANGING.has((error as { code?: string }).code ?? "")) return undefined;
      throw error;
    }
  }

  async function read(): Promise<Snapshot> {
    sql ??= openBeside(url!);
    const [row] = await sql<{ version: string }[]>`
      select pg_snapshot_xmax(pg_current_snapshot())::text as version`;
    const { version } = row!;
    if (version === before?.version) return before;
    digest ??= openDigester(sql);
    return { digests: await digest(), version };
  }

  function keep(snapshot: Snapshot | undefined): void {
    before = snapshot;
    writers = new Set();
    asked = false;
  }

  /** Takes the snapshot to compare with; none when something else wrote meanwhile. */
  async function begin(): Promise<void> {
    const known = writes;
    // A test may have stopped the database: then there is nothing to compare.
    const snapshot = await take().catch(() => undefined);
    keep(known === writes ? snapshot : undefined);
  }

  async function compare(): Promise<void> {
    const known = before;
    if (known === undefined || !asked) return;
    // A request that is still in flight may write while the rows are read.
    if (inFlight > 0) return readOnly ? undefined : keep(undefined);
    const after = await take();
    // Something began to write while the rows were read.
    if (before !== known) return;
    if (after === undefined) return keep(undefined);
    const changed = compareDigests(known.digests, after.digests, writers);
    const whose = readOnly ? "rows that groups of tests share" : "the rows of others";
    if (changed.length > 0) found.push(`${whose} changed: ${changed.join(", ")}`);
    keep(after);
  }

  return {
    async start(writer) {
      if (before === undefined && inFlight === 0) {
        reading ??= begin().finally(() => reading = undefined);
      }
      await reading;
      if (writer !== undefined && !readOnly) writers.add(writer);
      asked = true;
      inFlight++;
      return () => inFlight--;
    },
    beforeWrite: compare,
    afterWrite() {
      if (readOnly) found.push("a test writes to a database that groups of tests share");
      writes++;
      keep(undefined);
    },
    async check() {
      await compare();
      const all = found;
      found = [];
      return all;
    },
    setReadOnly(now) {
      readOnly = now;
    },
    close: async () => {
      if (url !== undefined) await sql?.end({ timeout: 1 });
    },
  };
}

/** A test that locks a whole table must not have this session queue in front of its requests. */
function openBeside(url: string): Sql {
  return postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connection: { lock_timeout: 10 },
  });
}
