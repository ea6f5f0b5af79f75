import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import postgres from "postgres";
import { followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { openReplicas } from "../../../src/database/replicas/replicas.ts";
import { openSnapshotStandbys } from "../../../src/database/replicas/snapshot_standbys.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { currentSignal } from "../../support/current_test.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { ignoreLostSockets } from "../../support/lost_sockets.ts";
import { readRuns, readSeed } from "../../support/seed.ts";
import { startStandby } from "../../support/standby.ts";
import { type Followed, followTable } from "../changes/law_follower.ts";
import { openRandom, TABLES, TENANTS } from "../changes/law_statements.ts";
import { type Deed, openTransactions, pause, writeHistory } from "../changes/law_writer.ts";

const WRITERS = 3;
/** Seconds of one history at least; ROWGATE_TEST_RUNS makes it longer. */
const SECONDS = 4;

/** The law of the changes feed, where the rows of a snapshot come from a standby. */
describe("the snapshot of a changes feed on a standby", () => {
  let primary: Cluster;
  let standby: Cluster;
  let heed = () => {};

  before(async () => {
    heed = ignoreLostSockets();
    primary = await startCluster({ settings: { max_prepared_transactions: "20" } });
    const admin = postgres(`${primary.url}/postgres`, { max: 1, onnotice: () => {} });
    await admin.unsafe(
      await readFile(new URL("../changes/law_tables.sql", import.meta.url), "utf8"),
    );
    await admin.end();
    standby = await startStandby(primary, { max_prepared_transactions: "20" });
  });
  after(async () => {
    await standby?.stop();
    await primary?.stop();
    heed();
  });

  it("passes into changes without a gap, however late the standby is [CH20] [CH10]", async () => {
    const [seconds, seed] = [readRuns(SECONDS), readSeed()];
    console.log(`seed ${seed}, ${seconds} s`);
    const url = `${primary.url}/postgres`;
    const { config } = readConfig({
      DATABASE_URL: url,
      DATABASE_READ_URL: `${standby.url}/postgres`,
      ROWGATE_POOL_SIZE: "2",
    });
    let pages = 0;
    let onPrimary = 0;
    const owner = openDatabase(config!, () => {});
    await migrateSchema(owner);
    const replicas = openReplicas(config!, {
      database: owner,
      observe(observation) {
        if (observation.kind !== "read_from") return;
        if (observation.server === "standby") pages++;
        else onPrimary++;
      },
    })!;
    const standbys = openSnapshotStandbys(replicas);
    const options = { schemas: ["public"], tenantColumn: "tenant_id", policy: EMPTY_POLICY };
    const catalogue = followDatabase(owner, { ...options, observe: () => {} });
    await enableFeeds({ owner, catalogue }, TABLES);
    const { tables } = await catalogue.current();

    const random = openRandom(seed);
    const draw = openTransactions(openRandom(seed));
    const deeds = new Map<Deed, number>();
    let writing = true;
    let following = true;
    const signal = currentSignal();
    const seen: Followed[] = [];
    const countCompared = () => seen.reduce((sum, one) => sum + one.compared, 0);
    const isEnough = () => pages > 10 * seconds && countCompared() > 5 * seconds;
    const writers = Array.from(
      { length: WRITERS },
      (_, place) =>
        writeHistory(url, {
          random: openRandom(seed + place),
          draw,
          stopping: () => !writing,
          deeds,
        }),
    );
    const followers = TABLES.flatMap((name) =>
      TENANTS.map((tenant, place) =>
        followTable(url, {
          table: tables.get(name)!,
          tenant,
          first: "start",
          random: openRandom(seed + 100 * place),
          stopping: () => !following,
          standbys,
          startAgain: 0.5,
          seen,
        })
      )
    );
    const all = Promise.all(followers);
    all.catch(() => {});
    const there = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
    const history = async () => {
      const endMs = performance.now() + 1000 * seconds;
      // On a busy machine little may have happened by then. The limit of a test is an end, too.
      while (performance.now() < endMs || following && !signal.aborted && !isEnough()) {
        const delayMs = [0, 20, 100, 300, 2000][Math.floor(random() * 5)];
        await there.unsafe(`alter system set recovery_min_apply_delay = '${delayMs}ms'`);
        await there`select pg_reload_conf()`;
        await pause(200 + 300 * random());
      }
      await there.unsafe("alter system set recovery_min_apply_delay = 0");
      await there.end();
      // It has replayed less when it is there again.
      await standby.restart("immediate");
      await pause(500);
      writing = false;
      await Promise.all(writers);
      following = false;
    };
    try {
      await Promise.race([history(), all.then(() => assert(!following))]);
      await all;
      console.log(
        `${countCompared()} comparisons, ${pages} pages of ${pages + onPrimary} on the standby`,
      );
      assert(isEnough());
      assertEquals(seen.filter((one) => one.compared === 0).length, 0);
    } finally {
      [writing, following] = [false, false];
      await Promise.allSettled([...writers, ...followers]);
      catalogue.close();
      await replicas.close(1000);
      await owner.close(1000);
    }
  });
});
