import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import type { Config } from "../../../src/server/config/config.ts";
import { DatabaseError, makeFailure } from "../../../src/database/postgres/database_error.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import {
  type CurrentCatalogue,
  followDatabase,
  MAX_AGE_MS,
  MAX_REST_MS,
  MIN_REFRESH_INTERVAL_MS,
  RENEW_AGE_MS,
} from "../../../src/catalogue/current_catalogue.ts";
import { EMPTY_POLICY, type Policy } from "../../../src/catalogue/policy.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const CONFIG: Config = {
  host: "127.0.0.1",
  port: 0,
  databaseUrl: undefined,
  readUrl: undefined,
  replicaWaitMs: 500,
  replicaStickyMs: 5000,
  replicaMaxLagMs: 10_000,
  dataDir: "",
  schemas: ["public"],
  tenantColumn: "tenant_id",
  policyFile: undefined,
  timeZone: undefined,
  poolSize: 2,
  poolIdleSize: undefined,
  poolIdleMs: 60_000,
  poolWaitMs: 5000,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5000,
  requestTimeoutMs: 30_000,
  maxBodyBytes: 1_048_576,
  maxBodiesBytes: 33_554_432,
  maxUnsentBytes: 268_435_456,
  sendTimeoutMs: 20_000,
  exports: 2,
  exportsPerTenant: undefined,
  exportTimeoutMs: 600_000,
  maxInFlight: 100,
  transactions: 3,
  transactionTimeoutMs: 4000,
  maxPatternCharacters: 2000,
  maxTsqueryCharacters: 20000,
  tokenLookUps: 2,
  maxPageBytes: 8388608,
  rateLimit: undefined,
  rateLimitScope: "process",
  prepare: true,
  tenantSetting: undefined,
  audit: false,
  auditDays: undefined,
  changesDays: 7,
  idempotencyHours: 24,
  webhookHosts: [],
  corsOrigins: [],
  console: true,
  mcp: true,
  logLevel: "silent",
  workers: 1,
  drainMs: 0,
  shutdownMs: 1000,
};

describe("the catalogue in force follows the database", () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let observations: Observation[];
  let statements: number;
  let timeMs: number;
  let column = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase("real", "fixture");
    const config = { ...CONFIG, databaseUrl: testDatabase.servingUrl };
    database = openDatabase(config, () => {});
  });
  afterAll(async () => {
    await database.close(1000);
    await testDatabase.drop();
  });
  beforeEach(() => {
    observations = [];
    statements = 0;
    timeMs = 1_000_000;
  });

  function follow(policy: Policy = EMPTY_POLICY, on: Database = database): CurrentCatalogue {
    const counted: Database = {
      ...on,
      run: (compile, options) => {
        statements += 1;
        return on.run(compile, options);
      },
    };
    return followDatabase(counted, {
      schemas: ["public"],
      tenantColumn: "tenant_id",
      policy,
      observe: (observation) => observations.push(observation),
      now: () => timeMs,
    });
  }

  async function addColumn(): Promise<string> {
    const name = `added_${++column}`;
    await testDatabase.admin.unsafe(`alter table deals add column ${name} text`);
    return name;
  }

  async function knows(catalogue: CurrentCatalogue, name: string): Promise<boolean> {
    return (await catalogue.current()).tables.get("deals")!.columns.has(name);
  }

  async function eventually(isSo: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 500; round++) {
      if (await isSo()) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error("it did not come about in 5 s");
  }

  it("loads at first use, once for all requests that wait", async () => {
    const catalogue = follow();
    assertEquals([catalogue.loaded(), statements], [false, 0]);
    const found = await Promise.all(Array.from({ length: 20 }, () => catalogue.current()));
    assertEquals([catalogue.loaded(), statements], [true, 1]);
    assertEquals(new Set(found).size, 1);
    assertEquals(observations.filter(({ kind }) => kind === "catalogue").length, 1);
    catalogue.close();
  });

  it("warns when nothing is exposed, as with a misspelt tenant column", async () => {
    const catalogue = followDatabase(database, {
      schemas: ["public"],
      tenantColumn: "tenant_ident",
      policy: EMPTY_POLICY,
      observe: (observation) => observations.push(observation),
    });
    assertEquals((await catalogue.current()).tables.size, 0);
    const message = 'no table is exposed; "rowgate tables" says why';
    assertEquals(observations.filter(({ kind }) => kind === "warning"), [{
      kind: "warning",
      message,
    }]);
    catalogue.close();
  });

  it("reads again on demand, and says whether there is a newer catalogue [T39]", async () => {
    const catalogue = follow();
    const seen = await catalogue.current();
    assertEquals(await catalogue.refresh(seen, { reason: "unknown name" }), false);
    assertEquals(await catalogue.current(), seen);
    timeMs += MIN_REFRESH_INTERVAL_MS;
    const name = await addColumn();
    assertEquals(await catalogue.refresh(seen, { reason: "unknown name" }), true);
    assertEquals(await knows(catalogue, name), true);
    assert((await catalogue.current()).version !== seen.version);
    assertEquals(await catalogue.refresh(seen, { reason: "unknown name" }), true);
    assertEquals(statements, 3);
    catalogue.close();
  });

  it("reads at most once a second, however many names are unknown [T39]", async () => {
    const catalogue = follow();
    const seen = await catalogue.current();
    for (let round = 0; round < 50; round++) {
      await catalogue.refresh(seen, { reason: "unknown name" });
    }
    assertEquals(statements, 2);
    await Promise.all(
      Array.from(
        { length: 50 },
        () => catalogue.refresh(seen, { reason: "unknown name" }),
      ),
    );
    assertEquals(statements, 2);
    timeMs += MIN_REFRESH_INTERVAL_MS;
    await Promise.all(
      Array.from(
        { length: 50 },
        () => catalogue.refresh(seen, { reason: "unknown name" }),
      ),
    );
    assertEquals(statements, 3);
    catalogue.close();
  });

  it("reads at most once a second, however often a statement fails on it [RE31]", async () => {
    const catalogue = follow();
    const seen = await catalogue.current();
    const why = { reason: "22P02", failed: "deals 22P02" };
    for (let round = 0; round < 50; round++) {
      assertEquals(await catalogue.refresh(seen, why), false);
    }
    assertEquals(statements, 2);
    // Another failure may have another cause: it joins the next read.
    timeMs += MIN_REFRESH_INTERVAL_MS;
    const others = Array.from({ length: 50 }, (_, n) => ({ reason: "x", failed: `deals ${n}` }));
    await Promise.all(others.map((other) => catalogue.refresh(seen, other)));
    assertEquals(statements, 3);
    timeMs += MIN_REFRESH_INTERVAL_MS;
    const name = await addColumn();
    assertEquals(await catalogue.refresh(seen, why), true);
    assertEquals([statements, await knows(catalogue, name)], [4, true]);
    catalogue.close();
  });

  it("reads again before a request uses a catalogue that is a minute old [T41]", async () => {
    const catalogue = follow();
    await catalogue.current();
    const name = await addColumn();
    timeMs += RENEW_AGE_MS - 1;
    assertEquals([await knows(catalogue, name), statements], [false, 1]);
    timeMs += MAX_AGE_MS;
    assertEquals([await knows(catalogue, name), statements], [true, 2]);
    catalogue.close();
  });

  it("reads again in the background of a request when half a minute old [0012]", async () => {
    const catalogue = follow();
    await catalogue.current();
    const name = await addColumn();
    timeMs += RENEW_AGE_MS;
    assertEquals(await knows(catalogue, name), false);
    await eventually(() => knows(catalogue, name));
    assertEquals(statements, 2);
    catalogue.close();
  });

  it("is renewed without a request for a quarter of an hour after the last one [T56]", async () => {
    const catalogue = follow();
    catalogue.renew();
    assertEquals(statements, 0);
    await catalogue.current();
    const name = await addColumn();
    timeMs += RENEW_AGE_MS - 1;
    catalogue.renew();
    assertEquals(statements, 1);
    timeMs += 1;
    catalogue.renew();
    await eventually(() => Promise.resolve(catalogue.loaded() && statements === 2));
    timeMs += RENEW_AGE_MS;
    await eventually(() => knows(catalogue, name));
    timeMs += MAX_REST_MS;
    const before = statements;
    catalogue.renew();
    assertEquals(statements, before);
    catalogue.close();
  });

  it("reads again on NOTIFY rowgate_catalogue [T38]", async () => {
    const catalogue = follow();
    await catalogue.current();
    await eventually(async () => {
      const listeners = await testDatabase.admin`
        select 1 from pg_stat_activity
        where datname = current_database() and query ilike 'listen "rowgate_catalogue"%'`;
      return listeners.length > 0;
    });
    const name = await addColumn();
    await testDatabase.admin`notify rowgate_catalogue`;
    await eventually(() => knows(catalogue, name));
    catalogue.close();
  });

  it("is replaced after a change of any kind, and stays the same object otherwise [T78] [T79]", async () => {
    const catalogue = follow();
    const { admin } = testDatabase;
    let seen = await catalogue.current();
    for (
      const change of [
        "comment on table deals is 'read again'",
        "alter table deals add column noted text",
        "create unique index noted on deals (tenant_id, noted)",
        "revoke update on deals from rowgate_app",
        "alter table deals drop column noted",
      ]
    ) {
      timeMs += MAX_AGE_MS;
      assert(await catalogue.current() === seen, `before: ${change}`);
      await admin.unsafe(change);
      timeMs += MAX_AGE_MS;
      const next = await catalogue.current();
      assert(next !== seen, change);
      seen = next;
    }
    catalogue.close();
  });

  it("keeps the catalogue in force while the database is unavailable [R35]", async () => {
    let unavailable = false;
    const failing: Database = {
      ...database,
      run: (compile, options) =>
        unavailable
          ? Promise.reject(new DatabaseError(makeFailure("lost", "08006"), { write: false }))
          : database.run(compile, options),
    };
    const catalogue = follow(EMPTY_POLICY, failing);
    const seen = await catalogue.current();
    unavailable = true;
    timeMs += MAX_AGE_MS;
    assertEquals(await catalogue.current(), seen);
    assertEquals(observations.at(-1), { kind: "catalogue_failed", code: "08006" });
    unavailable = false;
    const name = await addColumn();
    timeMs += MIN_REFRESH_INTERVAL_MS;
    assertEquals(await knows(catalogue, name), true);
    catalogue.close();
  });

  it("rejects until it is loaded, and loads as soon as it can [R35]", async () => {
    let unavailable = true;
    const failing: Database = {
      ...database,
      run: (compile, options) =>
        unavailable
          ? Promise.reject(new DatabaseError(makeFailure("unavailable", "08001"), { write: false }))
          : database.run(compile, options),
    };
    const catalogue = follow(EMPTY_POLICY, failing);
    assertEquals(
      (await assertRejects(async () => await catalogue.current(), DatabaseError)).kind,
      "unavailable",
    );
    assertEquals(catalogue.loaded(), false);
    unavailable = false;
    await catalogue.current();
    assertEquals(catalogue.loaded(), true);
    catalogue.close();
  });

  it("warns once of names in the policy that the database does not have", async () => {
    const catalogue = follow({ ...EMPTY_POLICY, credentialTables: ["vault"] });
    const seen = await catalogue.current();
    await addColumn();
    assertEquals(await catalogue.refresh(seen, { reason: "unknown name" }), true);
    const warnings = observations.filter((observation) =>
      observation.kind === "warning" && observation.message.includes('"vault"')
    );
    assertEquals(warnings.length, 1);
    catalogue.close();
  });
});
