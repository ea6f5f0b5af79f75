import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { readConfig } from "../../src/server/config/config.ts";
import type { Database } from "../../src/database/postgres/database.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { currentSignal } from "../support/current_test.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault_proxy.ts";
import { findPort } from "../support/find_port.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { readRuns, readSeed } from "../support/seed.ts";
import { issueWith } from "../support/tokens.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";

/** Updates of each runtime; ROWGATE_TEST_RUNS makes it more, 10,000 in the long form. */
const UPDATES = 160;
const WORKERS = 8;
/** A request that is not answered by then is given up and sent again. */
const PATIENCE_MS = 3000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One update: its request, and the one answer that it may have. */
interface Job {
  readonly how: "single" | "bulk" | "batch";
  readonly body: unknown;
  readonly answer: unknown;
}

for (const runtime of RUNTIMES) {
  describe(`updates with a key that are repeated until they are answered, on ${runtime}`, () => {
    let cluster: Cluster;
    let owner: Database;
    let toPostgres: FaultProxy;
    let toService: FaultProxy;
    let service: RunningProcess;
    let token: string;
    let start: () => Promise<void>;
    const admin = () =>
      postgres(`${cluster.url}/postgres`, { max: 1, onnotice() {}, connect_timeout: 5 });

    before(async () => {
      // What was acknowledged must outlive a crash of Postgres.
      cluster = await startCluster({ settings: { synchronous_commit: "on" } });
      const url = `${cluster.url}/postgres`;
      const sql = admin();
      await sql.unsafe(`create table jobs (id int4 primary key, tenant_id int4 not null,
          worker int4 not null, kind text not null, n int4 not null default 0, times int4 not null default 0);
        insert into jobs select row_number() over (order by worker, array_position(array['key', 'filters', 'bulk', 'batch'], kind)), 1, worker, kind, 0, 0
          from generate_series(0, ${WORKERS - 1}) worker,
            unnest(array['key', 'filters', 'bulk', 'bulk', 'batch', 'batch']) kind;
        create function count_times() returns trigger language plpgsql as
          'begin new.times := old.times + 1; return new; end';
        create trigger jobs_times before update on jobs for each row execute function count_times()`);
      await sql.end();
      const { config } = readConfig({ DATABASE_URL: url, ROWGATE_POOL_SIZE: "1" });
      owner = openDatabase(config!, () => {});
      await migrateSchema(owner);
      token = await issueWith(owner)({ tenant: "1" });
      await owner.close(1000);
      toPostgres = await startFaultProxy(url);
      const port = await findPort();
      start = async () => {
        const settings = { DATABASE_URL: toPostgres.through(url), PORT: String(port) };
        service = startCommand(runtime, ["serve"], { ...settings, ROWGATE_POOL_SIZE: "6" });
        await awaitAddress(service);
      };
      await start();
      toService = await startFaultProxy(`http://127.0.0.1:${port}`);
    });
    after(async () => {
      service?.send("SIGKILL");
      await service?.ended;
      await toService?.stop();
      await toPostgres?.stop();
      await cluster?.stop();
    });

    it("are each carried out once, and each answer is the first one's [IK19] [IK7]", async () => {
      const updates = readRuns(UPDATES);
      const seed = readSeed();
      console.log(`seed ${seed}, ${updates} updates`);
      let state = seed;
      const random = (below: number) => {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
        return (state >>> 8) % below;
      };
      let done = 0;
      let sent = 0;
      let replayed = 0;
      const signal = currentSignal();

      /** Sends once; undefined where there is no answer, or one that says to repeat it. */
      async function send({ how, body }: Job, key: string): Promise<unknown> {
        sent++;
        const url = `http://127.0.0.1:${toService.port}/integration/tables/jobs/records/${how}`;
        try {
          const response = await fetch(url, {
            method: "PATCH",
            headers: {
              "authorization": `Bearer ${token}`,
              "content-type": "application/json",
              "idempotency-key": `"${key}"`,
            },
            body: JSON.stringify(body),
            signal: AbortSignal.timeout(PATIENCE_MS),
          });
          const answer = await response.json();
          const isBusy = response.status >= 500 ||
            (response.status === 409 && response.headers.has("retry-after"));
          if (isBusy) return undefined;
          if (response.headers.has("idempotent-replayed")) replayed++;
          return answer;
        } catch {
          return undefined;
        }
      }

      async function work(worker: number): Promise<void> {
        for (let n = 0; n < updates / WORKERS; n++) {
          const job = makeJob(worker, n);
          const key = crypto.randomUUID();
          let answer: unknown;
          while (answer === undefined) {
            signal.throwIfAborted();
            answer = await send(job, key);
            if (answer === undefined) await pause(20 + random(60));
          }
          assertEquals(answer, job.answer, `update ${n} of worker ${worker}`);
          // The answer stays what it was.
          const before = replayed;
          if (random(4) === 0) assertEquals(await send(job, key) ?? job.answer, job.answer);
          replayed = before;
          done++;
        }
      }

      let working = true;
      async function disturb(): Promise<void> {
        const how = () => (random(2) === 0 ? "fin" : "rst") as "fin" | "rst";
        const wait = () => pause(20 + random(80));
        const cut = (proxy: FaultProxy, below: number) =>
          proxy.during({ kind: "cut", how: how(), afterBytes: random(below) }, wait);
        const drop = (proxy: FaultProxy) => {
          proxy.drop(how());
          return wait();
        };
        const faults = [
          () => cut(toService, 400),
          () => cut(toService, 4000),
          () => toPostgres.during({ kind: "cut_row", how: how() }, wait),
          () => cut(toPostgres, 3000),
          () => drop(toPostgres),
          () => drop(toService),
        ];
        let killed = 0;
        while (working) {
          await faults[random(faults.length)]!();
          // At least one of each in the short form, and one for each 500 updates.
          if (done * 3 < updates * (killed + 1) / Math.max(1, updates / 1000)) continue;
          killed++;
          if (killed % 2 === 1) {
            service.send("SIGKILL");
            await service.ended;
            await start();
          } else {
            await cluster.restart("immediate");
          }
        }
        assert(killed >= 2, `the service and Postgres were ended ${killed} times`);
      }

      const disturbing = disturb();
      const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
      const results = await Promise.allSettled(workers);
      working = false;
      await disturbing;
      for (const result of results) if (result.status === "rejected") throw result.reason;
      console.log(
        `${sent} requests for ${updates} updates, ${replayed} answers were lost and given again`,
      );
      assert(sent > updates, "nothing was repeated");
      const sql = admin();
      const each = Math.ceil(updates / WORKERS);
      const rows = await sql`select distinct kind, n, times from jobs order by kind`;
      const [{ keys } = {}] =
        await sql`select count(*)::int4 as keys from rowgate.idempotency_keys`;
      await sql.end();
      const of = (kind: Kind) => (each + KINDS.length - 1 - KINDS.indexOf(kind)) >> 2;
      const expected = [...KINDS].sort()
        .map((kind) => ({ kind, n: of(kind), times: of(kind) }));
      assertEquals([...rows], expected);
      assertEquals(keys, each * WORKERS);
    });
  });
}

const KINDS = ["key", "filters", "bulk", "batch"] as const;
type Kind = typeof KINDS[number];

/** Makes an update that takes the rows of a worker from one number to the next, in turns of kinds. */
function makeJob(worker: number, turn: number): Job {
  const kind = KINDS[turn % 4]!;
  const n = turn >> 2;
  const fields = { n: n + 1 };
  const first = 6 * worker + 1;
  const byKey = (id: number) => ({ filters: { id, n }, fields });
  const result = { matched: 1, updated: 1 };
  const success = { success: true, table: "jobs" };
  switch (kind) {
    case "key":
      return { how: "single", body: byKey(first), answer: { ...success, ...result, fields } };
    case "filters":
      return {
        how: "single",
        body: { filters: { worker, kind, n }, fields },
        answer: { ...success, ...result, fields },
      };
    case "bulk":
      return {
        how: "bulk",
        body: { filters: { worker, kind, n }, fields },
        answer: { ...success, updated: 2 },
      };
    case "batch": {
      const updates = [byKey(first + 4), byKey(first + 5)];
      return { how: "batch", body: { updates }, answer: { ...success, results: [result, result] } };
    }
  }
}
