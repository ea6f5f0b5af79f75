import postgres from "postgres";
import type { Sql } from "../../../src/postgres/driver.ts";
import { compareDigests, digestRows, type Digests } from "./digest_rows.ts";

/** Knows which rows there were before a service was asked, and which tenants wrote since. */
export interface RowGuard {
  /** A request begins, by which the tenant may write; gives what ends it. */
  readonly start: (writer: string | undefined) => Promise<() => void>;
  /** Settles before someone other than the service writes. */
  readonly beforeWrite: () => Promise<void>;
  /** Someone other than the service has written, or may any time. */
  readonly afterWrite: () => void;
  /** Compares; gives what changed that should not have, since this was asked last. */
  readonly check: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

/** The rows as they were. */
interface Picture {
  readonly digests: Digests;
  /** The next transaction that writes: as long as it is the same, nobody has written. */
  readonly version: string;
}

/** A table is gone, or locked, or not as it was. */
const CHANGING: ReadonlySet<string> = new Set(["42P01", "42703", "55P03", "40P01", "XX000"]);

/** Watches the rows of a database: its URL, or the client of the one that is embedded. */
export function guardRows(
  { url, admin }: { readonly url: string | undefined; readonly admin: Sql },
): RowGuard {
  let sql: Sql | undefined = url === undefined ? admin : undefined;
  let before: Picture | undefined;
  let reading: Promise<void> | undefined;
  let writers = new Set<string>();
  let asked = false;
  let inFlight = 0;
  let writes = 0;
  let found: string[] = [];

  /** Undefined when a test changes the tables themselves meanwhile: nothing can be compared then. */
  async function take(): Promise<Picture | undefined> {
    try {
      return await read();
    } catch (error) {
      if (CHANGING.has((error as { code?: string }).code ?? "")) return undefined;
      throw error;
    }
  }

  async function read(): Promise<Picture> {
    sql ??= openBeside(url!);
    const [row] = await sql<{ version: string }[]>`
      select pg_snapshot_xmax(pg_current_snapshot())::text as version`;
    const { version } = row!;
    if (version === before?.version) return before;
    return { digests: await digestRows(sql), version };
  }

  function keep(picture: Picture | undefined): void {
    before = picture;
    writers = new Set();
    asked = false;
  }

  /** Takes the picture to compare with; none when someone else wrote while it was taken. */
  async function begin(): Promise<void> {
    const known = writes;
    // A test may have taken the database away: then there is nothing to compare.
    const picture = await take().catch(() => undefined);
    keep(known === writes ? picture : undefined);
  }

  async function compare(): Promise<void> {
    const known = before;
    if (known === undefined || !asked) return;
    // Who is still being served may write while we look.
    if (inFlight > 0) return keep(undefined);
    const after = await take();
    // Someone has begun to write while we looked.
    if (before !== known) return;
    if (after === undefined) return keep(undefined);
    const changed = compareDigests(known.digests, after.digests, writers);
    if (changed.length > 0) found.push(`the rows of others changed: ${changed.join(", ")}`);
    keep(after);
  }

  return {
    async start(writer) {
      if (before === undefined && inFlight === 0) {
        reading ??= begin().finally(() => reading = undefined);
      }
      await reading;
      if (writer !== undefined) writers.add(writer);
      asked = true;
      inFlight++;
      return () => inFlight--;
    },
    beforeWrite: compare,
    afterWrite() {
      writes++;
      keep(undefined);
    },
    async check() {
      await compare();
      const all = found;
      found = [];
      return all;
    },
    close: async () => {
      if (url !== undefined) await sql?.end({ timeout: 1 });
    },
  };
}

/** Whoever locks a whole table in a test must not find us waiting in the way of its requests. */
function openBeside(url: string): Sql {
  return postgres(url, { max: 1, onnotice: () => {}, connection: { lock_timeout: 10 } });
}
