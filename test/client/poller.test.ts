// Writers commit in another order than the times of their rows, and the poller is stopped and continued at its saved
// place: in the end it has yielded the last change of every row, and no change twice.
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { createClient, type Place } from "../../src/client/client.ts";
import { createTestService, type TestService } from "../support/service.ts";

const WRITERS = 4;
const TRANSACTIONS = 40;
const ROWS = 30;
/** The longest time that a transaction stays open; the overlap is longer. */
const HELD_MS = 120;
const OVERLAP_SECONDS = 60;
/** Without changes for this long, the poller counts as done. */
const QUIET_MS = 300;

describe("the poller beside concurrent writers", () => {
  let service: TestService;
  let admin: Sql;

  beforeAll(async () => {
    service = await createTestService("real");
    ({ admin } = service.database);
    await admin`create table beats (tenant_id int4 not null, id int4 primary key, changed_at timestamptz not null)`;
    await admin`insert into beats select 1, n, now() from generate_series(1, ${ROWS}) n`;
    await admin`grant select on beats to rowgate_app`;
    await service.catalogue.current();
  });
  afterAll(() => service.close());

  /** All rows of a transaction get the time of its start. */
  async function write(seed: number): Promise<void> {
    for (let count = 0; count < TRANSACTIONS; count++) {
      const ids = [1, 2, 3].map((step) => 1 + (seed * 7 + count * 11 + step * 5) % ROWS)
        .toSorted((a, b) => a - b);
      await admin.begin(async (sql) => {
        await sql`select now()`;
        await pause((seed * 31 + count * 17) % HELD_MS);
        // One by one in the same order, so that no two transactions deadlock.
        for (const id of ids) {
          await sql`update beats
            set changed_at = greatest(changed_at + interval '1 microsecond', now()) where id = ${id}`;
        }
      });
    }
  }

  it("yields the last change of every row, and none twice", async () => {
    const client = createClient({
      url: "http://127.0.0.1",
      token: service.tokens.a,
      fetch: async (url, init) => await service.app(new Request(url, init)),
    });
    const yielded: string[] = [];
    let place: Place | undefined;
    let written = false;
    let restarts = 0;
    const deadline = performance.now() + 150_000;

    async function findMissing(): Promise<readonly string[]> {
      const rows = await admin`select id, to_json(changed_at) as changed_at from beats`;
      return rows.map(({ id, changed_at }) => `${id} ${changed_at}`)
        .filter((change) => !yielded.includes(change));
    }

    /** Polls for some batches; true if all was written and yielded, and nothing followed for a while. */
    async function pollFor(batches: number): Promise<boolean> {
      const controller = new AbortController();
      let quiet: ReturnType<typeof setTimeout> | undefined;
      const options = {
        by: "changed_at",
        from: place,
        everySeconds: 0.02,
        overlapSeconds: OVERLAP_SECONDS,
        signal: controller.signal,
      };
      const end = async () => {
        if (written && (performance.now() > deadline || (await findMissing()).length === 0)) {
          controller.abort();
        } else watch();
      };
      const watch = () => {
        clearTimeout(quiet);
        if (controller.signal.aborted) return;
        quiet = setTimeout(end, QUIET_MS);
      };
      watch();
      try {
        for await (const batch of client.poll("beats", { per_page: 4 }, options)) {
          yielded.push(...batch.records.map(({ id, changed_at }) => `${id} ${changed_at}`));
          place = JSON.parse(JSON.stringify(batch.place));
          watch();
          if (--batches === 0) return false;
        }
        return true;
      } finally {
        controller.abort();
        clearTimeout(quiet);
      }
    }

    const writers = Promise.all(Array.from({ length: WRITERS }, (_, seed) => write(seed)))
      .then(() => written = true);
    while (!(await pollFor(1 + restarts % 7))) restarts++;
    await writers;

    assertEquals(await findMissing(), []);
    assertEquals(yielded.length, new Set(yielded).size);
    // Each row is yielded at least once, four in a batch.
    assert(restarts >= 3, String(restarts));
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
