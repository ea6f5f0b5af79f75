import { assert, assertEquals } from "@std/assert";
import { after, afterEach, before, describe, it } from "@std/testing/bdd";
import { readConfig } from "../../../src/server/config/config.ts";
import { openRateLeases } from "../../../src/http/rate_leases.ts";
import { SharedBuckets } from "../../../src/http/shared_buckets.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { readMetrics } from "../../support/read_metrics.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openSecondInstance, type SecondInstance } from "../records/second_instance.ts";

const LIMIT = 600;
/** Others than the first. */
const OTHERS = 3;
/** A twentieth of the limit. */
const LEASE = LIMIT / 20;
const ENVIRONMENT = {
  ROWGATE_RATE_LIMIT: `${LIMIT}/min`,
  ROWGATE_RATE_LIMIT_SCOPE: "instances",
};

describe("a rate limit of all instances", () => {
  let service: TestService;
  let others: readonly SecondInstance[];
  let database: Database;
  /** Buckets of the test that runs, which end with it. */
  const opened: SharedBuckets[] = [];
  before(async () => {
    service = await createTestService("real", { environment: ENVIRONMENT });
    others = Array.from(
      { length: OTHERS },
      () => openSecondInstance(service.database, service.tokens.a, ENVIRONMENT),
    );
    const { config } = readConfig({ DATABASE_URL: service.database.servingUrl! });
    database = openDatabase(config!, () => {});
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((buckets) => buckets.close()));
  });
  after(async () => {
    for (const other of others ?? []) await other.close();
    await database?.close(1000);
    await service?.close();
  });

  const ask = ({ send }: Pick<SecondInstance, "send">, token: string) =>
    send("GET", "/integration/token", { token });

  /** Buckets of so many in a window, with what they observe. */
  function open(
    { capacity, windowSeconds, on = database }: {
      readonly capacity: number;
      readonly windowSeconds: number;
      readonly on?: Pick<Database, "run">;
    },
  ) {
    const observed: Observation[] = [];
    const leases = openRateLeases(on, { requests: capacity, windowSeconds });
    const buckets = new SharedBuckets({
      ...{ capacity, windowSeconds, leases, size: 1000 },
      now: () => performance.now(),
      observe: (observation) => void observed.push(observation),
    });
    opened.push(buckets);
    return {
      draw: (key: string) => buckets.draw(key),
      close: () => buckets.close(),
      observed,
    };
  }

  it("admits no more than the limit of a token, however its requests are spread [M21] [R59]", async () => {
    const { shared, admitted, rejected, leased, seconds } = await sendBurst();
    assert(shared);
    const most = LIMIT + seconds * LIMIT / 60 + 1;
    assert(admitted <= most, `${admitted} of at most ${most}`);
    // What one instance holds cannot be used by the others.
    assert(admitted >= LIMIT - OTHERS * LEASE, `only ${admitted}`);
    assertEquals(admitted + rejected, 1200);
    // While nothing is left, it asks again at most every 50 ms.
    assert(leased < 60 + 25 * seconds, `${leased} statements for 300 requests in ${seconds} s`);
  });

  /** Sends 1,200 requests with one token over all instances. */
  async function sendBurst() {
    const token = await service.issue();
    const all = [service, ...others];
    const counts = { admitted: 0, rejected: 0 };
    const policies = new Set<string | null>();
    const before = await countLeased();
    const startMs = performance.now();
    const sent = async (client: number) => {
      for (let request = 0; request < 100; request++) {
        const { status, headers } = await ask(all[client % all.length]!, token);
        policies.add(headers.get("ratelimit-policy"));
        counts[status === 200 ? "admitted" : "rejected"]++;
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, client) => sent(client)));
    const seconds = (performance.now() - startMs) / 1000;
    const shared = policies.size === 1 && policies.has(`"default";q=${LIMIT};w=60`);
    return { ...counts, shared, seconds, leased: await countLeased() - before };
  }

  async function countLeased(): Promise<number> {
    const { text } = await service.send("GET", "/metrics");
    return readMetrics(text).samples.get('rowgate_rate_leases_total{result="leased"}') ?? 0;
  }

  it("counts each token separately, and lets a client continue at its rate [M21]", async () => {
    const [fast, slow] = [0, 1].map(() => open({ capacity: 20, windowSeconds: 1 }));
    const names = ["a", "b"].map((name) => `${name} ${crypto.randomUUID()}`);
    const startMs = performance.now();
    const counts = [0, 0];
    // More than the bucket holds at first.
    await waitUntil(async () => {
      for (const [place, name] of names.entries()) {
        for (const { draw } of [fast!, slow!]) if ((await draw(name)).granted) counts[place]!++;
      }
      return counts.every((count) => count >= 28);
    });
    const seconds = (performance.now() - startMs) / 1000;
    for (const count of counts) assert(count <= 20 + 20 * seconds + 1, `${count} in ${seconds} s`);
  });

  it("returns the lease of an instance that stops [M21]", async () => {
    const name = crypto.randomUUID();
    const first = open({ capacity: 100, windowSeconds: 3600 });
    for (let request = 0; request < 7; request++) await first.draw(name);
    await first.close();
    assertEquals(await readLevel(name), 93);
    const second = open({ capacity: 100, windowSeconds: 3600 });
    assertEquals((await second.draw(name)).remaining, 92);
    await second.close();
  });

  async function readLevel(name: string): Promise<number> {
    const [row] = await service.database.admin`
      select round(level) as level from rowgate.rates where token_id = ${name}`;
    return Number(row!["level"]);
  }

  it("lets each instance count by itself while the database is unavailable [M22]", async () => {
    let away = false;
    const breakable: Pick<Database, "run"> = {
      run: (...asked) => away ? Promise.reject(new Error("away")) : database.run(...asked),
    };
    const { draw, observed } = open({ capacity: 40, windowSeconds: 3600, on: breakable });
    const name = crypto.randomUUID();
    await draw(name);
    away = true;
    // What it has leased, and then a whole limit of its own.
    const count = await drawAll(draw, name);
    assert(count >= 40 && count <= 43, `${count}`);
    const warnings = observed.flatMap((one) => one.kind === "warning" ? [one.message] : []);
    assertEquals(warnings, [
      "the rate limit is not shared: the database is unavailable; each process counts by itself",
    ]);
    away = false;
    await waitUntil(async () => (await draw(name)).granted && await readLevel(name) < 40);
  });

  async function drawAll(draw: SharedBuckets["draw"], name: string): Promise<number> {
    for (let count = 0;; count++) if (!(await draw(name)).granted) return count;
  }

  it("needs no right on the tables, and works without its functions [M23]", async () => {
    const { admin } = service.database;
    const [rights] = await admin`select
      has_table_privilege('rowgate_app', 'rowgate.rates', 'select, insert, update, delete') as any,
      (select relpersistence from pg_class where oid = 'rowgate.rates'::regclass) as kind`;
    assertEquals([rights!["any"], rights!["kind"]], [false, "u"]);
    await admin`revoke execute on function rowgate.lease_rates(json, float8, float8) from rowgate_app`;
    try {
      const forbidden = open({ capacity: 8, windowSeconds: 3600 });
      const count = await drawAll(forbidden.draw, crypto.randomUUID());
      assert(count >= 1 && count <= 8, `${count}`);
      const warning = forbidden.observed.find(({ kind }) => kind === "warning");
      assert(warning?.kind === "warning" && warning.message.includes("may not call"));
    } finally {
      await admin`grant execute on function rowgate.lease_rates(json, float8, float8) to rowgate_app`;
    }
  });

  it("takes many tokens in one statement, and forgets buckets that are full again [M23]", async () => {
    const many = open({ capacity: 100, windowSeconds: 1 });
    const names = Array.from({ length: 400 }, () => crypto.randomUUID());
    await Promise.all(names.map((name) => many.draw(name)));
    assertEquals(many.observed.filter(({ kind }) => kind === "rate_leases").length, 1);
    await many.close();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const leases = openRateLeases(database, { requests: 100, windowSeconds: 1 });
    assert(await leases.prune() >= 400);
    const [row] = await service.database.admin`
      select count(*)::int4 as rows from rowgate.rates where token_id = any(${names})`;
    assertEquals(row!["rows"], 0);
  });

  it("never makes two instances wait for each other's rows [M21]", async () => {
    const instances = Array.from({ length: 3 }, () => open({ capacity: 1000, windowSeconds: 1 }));
    const names = Array.from({ length: 60 }, (_, place) => `n${place}`);
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        instances.flatMap(({ draw }, place) =>
          (place === 1 ? names.toReversed() : names).flatMap((name) => [draw(name), draw(name)])
        ),
      );
    }
    for (const { observed } of instances) {
      assert(!observed.some((one) => one.kind === "rate_leases" && one.result === "failed"));
    }
  });
});
