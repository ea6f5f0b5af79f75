// The feed on each major version of Postgres, for owners and roles with the least rights, without and
// behind a pooler in transaction mode.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { readConfig } from "../../../src/server/config/config.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { findPooler, type Pooler, startPooler } from "../../support/pooler.ts";
import { hasVersion } from "../../support/postgres_binaries.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { followSubscription, SUBSCRIBED_SCHEMA } from "./subscription.ts";
import { followScenario, SCENARIO_SCHEMA, SCENARIO_SETTING, SCENARIO_TABLES } from "./scenario.ts";

/** The owner of the tables is no superuser, so that row level security holds for it too. */
const GIVE_TO_OWNER = `
  grant create on schema public to feed_owner;
  alter schema rowgate owner to feed_owner;
  do $$ declare each text; begin
    for each in select format('alter table %s owner to feed_owner', c.oid::regclass)
      from pg_class c where c.relkind in ('r', 'p')
        and c.relnamespace in ('rowgate'::regnamespace, 'public'::regnamespace)
      union all select format('alter function %s owner to feed_owner', p.oid::regprocedure)
      from pg_proc p where p.pronamespace = 'rowgate'::regnamespace
    loop execute each; end loop;
  end $$`;

/** That of the other tests, and the others that are supported. */
const MAJORS = [undefined, 14, 16, 17, 18];
const pgbouncer = await findPooler();
if (pgbouncer === undefined) console.log("pgbouncer is not installed: nothing is tested behind it");

for (const major of MAJORS) {
  if (major !== undefined && !await hasVersion(major)) {
    console.log(`there is no package of Postgres ${major} for this platform: it is left out`);
    continue;
  }
  describe(`a changes feed on Postgres ${major ?? "of the other tests"}`, () => {
    let cluster: Cluster;

    before(async () => {
      const settings = { wal_level: "logical" };
      cluster = await startCluster(major === undefined ? { settings } : { major, settings });
      const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
      const [row] =
        await admin`select current_setting('server_version_num')::int4 / 10000 as major`;
      assertEquals(row!["major"], major ?? row!["major"]);
      await admin`create database template_empty`;
      await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
      await admin.unsafe("create role feed_owner login password 'feed_owner'");
      await admin.end();
    });
    after(() => cluster?.stop());

    const environment = { ROWGATE_TENANT_SETTING: SCENARIO_SETTING };
    it("keeps exact copies, under row level security with the least rights, and answers those that wait [CH10] [CH1] [CH7] [CH15]", () =>
      follow({ environment }));

    it("catches what a subscription writes into tables of another owner [CH1] [CH3] [CH18]", () =>
      withOwner(SUBSCRIBED_SCHEMA, {}, (service) => followSubscription(service, cluster.url)));

    if (pgbouncer === undefined) return;
    it("keeps exact copies behind PgBouncer in transaction mode, and answers those that wait [CH10] [CH7] [CH15] [CH17] [DB25]", async () => {
      let pooler: Pooler | undefined;
      const route = async (url: string) => {
        pooler = await startPooler(pgbouncer, url);
        return pooler.through(url);
      };
      try {
        await follow({ environment: { ...environment, ROWGATE_PREPARE: "off" }, route });
      } finally {
        await pooler?.stop();
      }
    });

    async function follow(options: Parameters<typeof createTestService>[1]): Promise<void> {
      await withOwner(SCENARIO_SCHEMA, options, async (service) => {
        await enableFeeds(service, SCENARIO_TABLES);
        const begun = await followScenario(service);
        // A TRUNCATE that row level security hides rows from, and a partition that is added.
        assert(begun >= 4, `begun ${begun} times`);
      });
    }

    /** Makes a service on tables of the owner. */
    async function withOwner(
      schema: string,
      options: Parameters<typeof createTestService>[1],
      use: (service: TestService) => Promise<void>,
    ): Promise<void> {
      const empty = { template: "empty", cluster: cluster.url } as const;
      const service = await createTestService("real", { ...options, ...empty });
      let owner: Database | undefined;
      try {
        await service.database.admin.unsafe(`${schema}; ${GIVE_TO_OWNER}`);
        await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
        owner = openOwner(service);
        await use({ ...service, owner });
      } finally {
        await owner?.close(1000);
        await service.close();
      }
    }
  });
}

function openOwner({ database }: TestService): Database {
  const url = new URL(database.url!);
  url.username = "feed_owner";
  url.password = "feed_owner";
  const { config } = readConfig({ DATABASE_URL: url.href, ROWGATE_POOL_SIZE: "1" });
  return openDatabase(config!, () => {});
}
