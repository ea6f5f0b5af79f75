import postgres from "postgres";
import { pause, within } from "./law_writer.ts";

/** How the copy of a client that polls by a modification time differed from the table. */
export interface Polled {
  /** How often they were compared. */
  readonly compared: number;
  /** How often at least one row was missing, or as it was before. */
  readonly differed: number;
  /** Such rows when they were most. */
  readonly most: number;
  /** Deleted rows that it still had, when they were most. */
  readonly kept: number;
}

/** Every so many polls, the copy is compared with the table. */
const COMPARED_EVERY = 10;

/**
 * Polls as clients without a feed do: what was modified since the latest time that they have seen. Table
 * and changes are read by one statement, so that a right copy would equal the table.
 */
export async function pollTable(
  url: string,
  { table, stopping }: {
    readonly table: string;
    readonly stopping: () => boolean;
  },
): Promise<Polled> {
  let sql = connect(url);
  const copy = new Map<string, string>();
  let latest = "-infinity";
  let polled: Polled = { compared: 0, differed: 0, most: 0, kept: 0 };
  const poll = async (all: boolean) => {
    const rows = await within(sql.unsafe(
      `select id::text, n::text, modified_at::text at, modified_at > $1::text::timestamptz as fresh
        from ${table} where modified_at > $1::text::timestamptz or $2::text::bool order by modified_at`,
      [latest, String(all)],
    ));
    for (const { id, n, at, fresh } of rows) {
      if (!fresh) continue;
      copy.set(id, n);
      latest = at;
    }
    if (!all) return;
    const there = new Set(rows.map(({ id }) => id));
    const wrong = rows.filter(({ id, n }) => copy.get(id) !== n).length;
    const kept = [...copy.keys()].filter((id) => !there.has(id)).length;
    polled = {
      compared: polled.compared + 1,
      differed: polled.differed + (wrong > 0 ? 1 : 0),
      most: Math.max(polled.most, wrong),
      kept: Math.max(polled.kept, kept),
    };
  };
  for (let polls = 1; !stopping(); polls++) {
    try {
      await poll(polls % COMPARED_EVERY === 0);
    } catch {
      void sql.end({ timeout: 0 }).catch(() => {});
      await pause(300);
      sql = connect(url);
    }
    await pause(25);
  }
  await sql.end({ timeout: 1 });
  return polled;
}

function connect(url: string) {
  return postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2, fetch_types: false });
}
