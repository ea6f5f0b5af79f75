import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import postgres from "postgres";
import { followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { currentSignal } from "../../support/current_test.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { ignoreLostSockets } from "../../support/lost_sockets.ts";
import { readRuns, readSeed } from "../../support/seed.ts";
import { type Followed, followTable } from "./law_follower.ts";
import { ALL_KINDS, openRandom, TABLES, TENANTS } from "./law_statements.ts";
import { ALL_DEEDS, type Deed, openTransactions, pause, writeHistory } from "./law_writer.ts";
import { pollTable } from "./law_polling.ts";

const WRITERS = 6;
/** Seconds of one history; ROWGATE_TEST_RUNS makes it longer. */
const SECONDS = 6;

describe("the law of the changes feed", () => {
  let cluster: Cluster;
  let owner: Database;
  let url: string;

  let heed = () => {};

  before(async () => {
    heed = ignoreLostSockets();
    cluster = await startCluster({ settings: { max_prepared_transactions: "20" } });
    url = `${cluster.url}/postgres`;
    const admin = postgres(url, { max: 1, onnotice: () => {} });
    await admin.unsafe(await readFile(new URL("./law_tables.sql", import.meta.url), "utf8"));
    await admin.end();
    const { config } = readConfig({ DATABASE_URL: url, ROWGATE_POOL_SIZE: "2" });
    owner = openDatabase(config!, () => {});
    await migrateSchema(owner);
  });
  after(async () => {
    await owner?.close(1000);
    await cluster?.stop();
    heed();
  });

  it("holds while many clients write and Postgres crashes [CH10] [CH1] [FD7]", async () => {
    const seconds = readRuns(SECONDS);
    const seed = readSeed();
    console.log(`seed ${seed}, ${seconds} s`);
    const policy = {
      tables: new Map(),
      credentialTables: [],
    } as unknown as Parameters<typeof followDatabase>[1]["policy"];
    const options = { schemas: ["public"], tenantColumn: "tenant_id", policy, observe: () => {} };
    const catalogue = followDatabase(owner, options);
    await enableFeeds({ owner, catalogue }, TABLES);
    const { tables } = await catalogue.current();
    let writing = true;
    let following = true;
    const signal = currentSignal();
    const deeds = new Map<Deed, number>();
    const draw = openTransactions(openRandom(seed));
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
    const seen: Followed[] = [];
    const sum = (name: keyof Followed) => seen.reduce((total, one) => total + one[name], 0);
    const countCommitted = () => deeds.get("committed") ?? 0;
    const isEnough = () =>
      listMissing(deeds).length === 0 && countCommitted() > 3 * seconds &&
      seen.every(({ compared }) => compared > seconds / 2) &&
      sum("reopened") > 0 && sum("rewound") > 0;
    const followers = TABLES.flatMap((name) =>
      TENANTS.flatMap((tenant, place) =>
        (["start", "now"] as const).map((first, late) =>
          pause(late * 300).then(() =>
            followTable(url, {
              table: tables.get(name)!,
              tenant,
              first,
              random: openRandom(seed + 100 * place + late),
              stopping: () => !following,
              seen,
            })
          )
        )
      )
    );
    const control = pollTable(url, { table: "items", stopping: () => !following });
    const failed = Promise.race([Promise.all(followers).then(() => {}), pause(1e9)]);
    const history = async () => {
      await pause(seconds * 500);
      await cluster.restart("immediate");
      // Those that the crash has left would hold their locks until the end.
      await rollBackPrepared(url);
      await pause(seconds * 500);
      // On a busy machine something may still be missing. The limit of a test is an end, too.
      while (following && !signal.aborted && !isEnough()) await pause(200);
      writing = false;
      await Promise.all(writers);
      await rollBackPrepared(url);
      following = false;
      await Promise.all(followers);
    };
    try {
      await Promise.race([history(), failed]);
    } catch (error) {
      console.error(error);
      throw error;
    } finally {
      writing = false;
      following = false;
      await Promise.allSettled([...writers, ...followers, control]);
    }
    const lost = await control;
    catalogue.close();
    console.log(
      `${countCommitted()} transactions, ${sum("compared")} comparisons, ${
        sum("changes")
      } changes, ` +
        `${sum("expired")} begun again, ${sum("rewound")} rewound, ${
          sum("reopened")
        } restarts; polling by modified_at missed rows in ` +
        `${lost.differed} of ${lost.compared} comparisons, up to ${lost.most}, and kept ${lost.kept} deleted ones`,
    );
    console.log([...deeds].sort().map(([deed, times]) => `${deed}: ${times}`).join(", "));
    assertEquals(listMissing(deeds), [], "what this history should have done, and has not");
    assert(isEnough());
  });
});

function listMissing(deeds: ReadonlyMap<Deed, number>): readonly Deed[] {
  return [...ALL_KINDS, ...ALL_DEEDS].filter((deed) => !deeds.has(deed));
}

async function rollBackPrepared(url: string): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  for (const { gid } of await admin`select gid from pg_prepared_xacts`) {
    await admin.unsafe(`rollback prepared '${gid}'`);
  }
  await admin.end();
}
