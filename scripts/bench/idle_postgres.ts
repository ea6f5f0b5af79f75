import type { Sql } from "../../src/database/postgres/driver.ts";

const POLL_MS = 20;
/** Consecutive polls without activity: between two statements of a queue nothing runs either. */
const POLLS = 3;
const LONGEST_MS = 30_000;

/**
 * Waits until Postgres is idle. A service that goes on with requests of a turn that has ended would take
 * time from the next contender.
 */
export async function awaitIdlePostgres(sql: Sql): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  for (let quiet = 0; quiet < POLLS;) {
    if (performance.now() > end) throw new Error("Postgres is still busy after 30 s");
    const [row] = await sql<[{ busy: boolean }]>`
      select exists (select from pg_stat_activity
        where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid()) busy`;
    quiet = row.busy ? 0 : quiet + 1;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Removes the row versions that updates left behind, which later updates would read. Autovacuum is off:
 * it would take time from one contender.
 */
export async function vacuumContacts(sql: Sql): Promise<void> {
  await sql.unsafe("vacuum contacts");
}
