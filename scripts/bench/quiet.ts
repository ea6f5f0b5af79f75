import type { Sql } from "../../src/postgres/driver.ts";

const POLL_MS = 20;
/** So many looks in a row must find nothing: between two statements of a queue nothing runs either. */
const LOOKS = 3;
const LONGEST_MS = 30_000;

/**
 * Waits until Postgres does nothing for anybody: a service that goes on with what it was asked when its
 * client has left would take its time from the one whose turn comes next.
 */
export async function awaitQuiet(sql: Sql): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  for (let quiet = 0; quiet < LOOKS;) {
    if (performance.now() > end) throw new Error("Postgres is still busy after 30 s");
    const [row] = await sql<[{ busy: boolean }]>`
      select exists (select from pg_stat_activity
        where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()) busy`;
    quiet = row.busy ? 0 : quiet + 1;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Takes away the rows that updates have left behind, which each of the next would pass. Autovacuum is
 * off: it would take its time from whose turn it is.
 */
export async function sweep(sql: Sql): Promise<void> {
  await sql.unsafe("vacuum contacts");
}
