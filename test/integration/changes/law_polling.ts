import postgres from "postgres";
import { pause, within } from "./law_writer.ts";

/** What a client that polls by a modification time ended with, compared with the table. */
export interface Polled {
  readonly rows: number;
  /** Rows that it does not have, or has as they were before. */
  readonly wrong: number;
  /** Rows that it has although they were deleted. */
  readonly deleted: number;
}

/** Polls as clients without a feed do: what was modified since the latest time that they have seen. */
export async function pollTable(
  url: string,
  { table, stopping }: {
    readonly table: string;
    readonly stopping: () => boolean;
  },
): Promise<Polled> {
  let sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2, fetch_types: false });
  const copy = new Map<string, string>();
  let latest = "-infinity";
  const poll = async () => {
    const rows = await within(sql.unsafe(
      `select id::text, n::text, modified_at::text at from ${table}
        where modified_at > $1::text::timestamptz order by modified_at`,
      [latest],
    ));
    for (const { id, n, at } of rows) {
      copy.set(id, n);
      latest = at;
    }
  };
  for (let isLast = false; !isLast;) {
    isLast = stopping();
    try {
      await poll();
    } catch {
      void sql.end({ timeout: 0 }).catch(() => {});
      await pause(300);
      sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 2, fetch_types: false });
    }
    await pause(25);
  }
  const rows = await sql.unsafe(`select id::text, n::text from ${table}`);
  const left = new Set(rows.map(({ id }) => id));
  const wrong = rows.filter(({ id, n }) => copy.get(id) !== n).length;
  const deleted = [...copy.keys()].filter((id) => !left.has(id)).length;
  await sql.end({ timeout: 1 });
  return { rows: rows.length, wrong, deleted };
}
