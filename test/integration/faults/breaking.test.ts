import { assert, assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { currentSignal } from "../../support/current_test.ts";
import { IS_REMOTE } from "../../support/service.ts";
import { waitSoon, waitUntil } from "../../support/wait_until.ts";
import { createFaultyService, type FaultyService } from "./faulty_service.ts";
import {
  askOften,
  askWhile,
  awaitRecovery,
  isLimit,
  listFailures,
  listStatuses,
  readDeals,
  sleep,
  writeTitle,
} from "./load.ts";

describe("a connection that breaks", () => {
  let service: FaultyService;

  before(async () => {
    service = await createFaultyService({ environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "1000" } });
  });
  beforeEach(() => awaitRecovery(service));
  after(() => service.close());

  it("stays open when it is slow, and takes one round trip for each statement [DB13]", async () => {
    // What the statement is prepared with, and the token known by, is there already; the catalogue is
    // not yet so old that it would be read again.
    await readDeals(service);
    await readDeals(service);
    await service.proxy.during({ kind: "delay", ms: 50 }, async () => {
      // A session that is opened or primed meanwhile sends packets of its own: not each time.
      await waitSoon(async () => {
        const packets = service.proxy.packets();
        const response = await readDeals(service);
        assertEquals(response.status, 200);
        return service.proxy.packets() - packets <= 2;
      }, 50);
    });
  });

  for (const how of ["fin", "rst"] as const) {
    it(`in the middle of a row (${how}) is read again [DB10]`, async () => {
      const whole = await readDeals(service);
      const again = await service.proxy.during(
        { kind: "cut_row", how },
        () => readDeals(service),
      );
      assertEquals([again.status, again.text], [200, whole.text]);
    });

    it(`in the middle of a written row (${how}) reports that the outcome is unknown [DB10] [DB6]`, async () => {
      // The next row may also be one of a session that is just being opened; then the write succeeds.
      let response = await writeCut(0);
      for (let tries = 1; response.status === 200 && tries < 5; tries++) {
        response = await writeCut(tries);
      }
      assertEquals(response.status, 503);
      assert(String(response.body.error).includes("outcome is unknown"));
      const repeated = await writeTitle(service, 3, `cut ${how}`);
      assertEquals([repeated.status, repeated.body.matched], [200, 1]);

      function writeCut(tries: number) {
        return service.proxy.during(
          { kind: "cut_row", how },
          () => writeTitle(service, 3, `cut ${how} ${tries}`),
        );
      }
    });

    it(`while it is idle (${how}) is not noticed by the next request [DB5]`, async () => {
      service.proxy.drop(how);
      assertEquals((await readDeals(service)).status, 200);
    });
  }

  it("loses nothing that was acknowledged, whenever it breaks [DB3]", async () => {
    const kept = new Map<number, string>();
    const { responses } = await askWhile(
      async (index) => {
        const fid = 11 + index % 40;
        if (index % 2 === 0) return await readDeals(service);
        const title = `kept ${index}`;
        const response = await writeTitle(service, fid, title);
        if (response.status === 200) kept.set(fid, title);
        else kept.delete(fid);
        return response;
      },
      10,
      async (asked) => {
        for (let round = 0; round < 5; round++) {
          await waitUntil(() => asked() > 40 * (round + 1));
          service.proxy.drop(round % 2 === 0 ? "rst" : "fin");
        }
        await waitUntil(() => asked() > 240);
      },
    );
    // A session that has ended is known to be: nothing waits for a deadline.
    assertEquals(listStatuses(responses).filter((status) => ![200, 503].includes(status)), []);
    assert(kept.size > 0);
    const rows = await service.database.admin`select fid::int4 as fid, title from deals`;
    const titles = new Map(rows.map((row) => [row.fid as number, row.title as string]));
    for (const [fid, title] of kept) assertEquals(titles.get(fid), title);
  });

  it("is given up at the deadline when the server stops responding [DB11]", async () => {
    const observed = service.observations.length;
    const connections = service.proxy.connections();
    await service.proxy.during({ kind: "black_hole" }, async () => {
      const responses = await Promise.all([readDeals(service), writeTitle(service, 4, "?")]);
      for (const { status, text } of responses) assert([503, 504].includes(status), text);
      // Each ended at a limit of ours, since nothing else would ever end it.
      const causes = listFailures(service, observed);
      assert(IS_REMOTE || causes.length > 0 && causes.every(isLimit), `${causes}`);
    });
    await awaitRecovery(service);
    assert(service.proxy.connections() > connections, "the connections were used again");
  });

  it("is not used again after the deadline if it stays silent [DB11]", async () => {
    await Promise.all(Array.from({ length: 8 }, () => readDeals(service)));
    const observed = service.observations.length;
    const { responses } = await service.proxy.during(
      { kind: "black_hole", silent: true },
      () => askOften(() => readDeals(service), { everyMs: 100, times: 60 }),
    );
    assertEquals(listStatuses(responses).filter((status) => status !== 503 && status !== 504), []);
    const causes = listFailures(service, observed);
    assert(IS_REMOTE || causes.length > 0 && causes.every(isLimit), `${causes}`);
    await awaitRecovery(service);
    // None of those that are silent is left.
    const again = await Promise.all(Array.from({ length: 8 }, () => readDeals(service)));
    assertEquals(listStatuses(again), [200]);
  });

  it("delays all requests by one deadline when idle connections have become silent [DB11]", async () => {
    await Promise.all(Array.from({ length: 8 }, () => readDeals(service)));
    // Those that rest now will never be heard of again.
    await service.proxy.during({ kind: "black_hole", silent: true }, () => Promise.resolve());
    assertEquals((await readDeals(service)).status, 504);
    const again = await Promise.all(Array.from({ length: 8 }, () => readDeals(service)));
    assertEquals(listStatuses(again), [200]);
  });

  it("is opened again after pg_terminate_backend [DB5] [DB21]", async () => {
    const { admin } = service.database;
    const { responses } = await askWhile(() => readDeals(service), 10, async (asked) => {
      for (let round = 0; round < 5; round++) {
        await waitUntil(() => asked() > 15 * (round + 1));
        await admin`select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'rowgate_app' and datname = current_database()`;
      }
      await waitUntil(() => asked() > 90);
    });
    assertEquals(listStatuses(responses).filter((status) => ![200, 503].includes(status)), []);
    await awaitRecovery(service);
  });
});

describe("a database that is silent for a moment while clients keep asking", () => {
  let service: FaultyService;

  before(async () => {
    service = await createFaultyService({
      environment: { ROWGATE_POOL_SIZE: "4", ROWGATE_POOL_WAIT_MS: "500" },
    });
  });
  after(() => service.close());

  it("serves all clients again afterwards, and rejects none that waits with 503 [RE8]", async () => {
    await awaitRecovery(service);
    // As far away as this, there is always one that waits for another.
    await service.proxy.during({ kind: "delay", ms: 10 }, askFromAfar);
  });

  async function askFromAfar(): Promise<void> {
    const signal = currentSignal();
    let asking = true;
    const results = Array.from({ length: 16 }, (): string[] => []);
    // Tokens of their own, which are looked up again at times of their own: that would empty the queue.
    const clients = results.map(async (texts, client) => {
      const token = await service.issue({ name: `client ${client}` });
      await sleep(200 * client);
      while (asking && !signal.aborted) {
        const { status, text } = await readDeals(service, token);
        texts.push(status === 200 ? "served" : text);
      }
    });
    const isBusy = (text: string) => text.includes("The service is busy");
    try {
      await waitUntil(() => results.every((texts) => texts.includes("served")));
      await service.proxy.during(
        { kind: "black_hole" },
        () => waitUntil(() => results.some((texts) => texts.some(isBusy))),
      );
      await waitUntil(() =>
        results.every((texts) => texts.slice(-20).every((text) => text === "served"))
      );
    } finally {
      asking = false;
      await Promise.allSettled(clients);
    }
    await Promise.all(clients);
  }
});

describe("a database that may only be read after a failover", () => {
  let service: FaultyService;

  before(async () => {
    service = await createFaultyService();
  });
  after(() => service.close());

  it("serves queries, and acknowledges no write [DB19]", async () => {
    await awaitRecovery(service);
    const { admin } = service.database;
    const [{ name }] = await admin<[{ name: string }]>`select current_database() as name`;
    await admin.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    try {
      service.proxy.drop("rst");
      await awaitRecovery(service);
      const rejected = await writeTitle(service, 6, "never");
      assertEquals(rejected.status, 503);
      assert(String(rejected.body.error).includes("nothing was changed"));
    } finally {
      await admin.unsafe(`alter database ${name} reset default_transaction_read_only`);
    }
    service.proxy.drop("rst");
    await awaitRecovery(service);
    assertEquals((await writeTitle(service, 6, "again")).status, 200);
  });
});

describe("a row that is locked", () => {
  let service: FaultyService;

  before(async () => {
    service = await createFaultyService({
      environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "600", ROWGATE_LOCK_TIMEOUT_MS: "200" },
    });
  });
  after(() => service.close());

  it("is waited for only until the lock timeout, and the connection is used again [DB16] [DB17]", async () => {
    await awaitRecovery(service);
    await service.database.admin.begin(async (sql) => {
      await sql`select from deals where fid = 5 for update`;
      const connections = service.proxy.connections();
      const response = await writeTitle(service, 5, "never");
      assertEquals(response.status, 503);
      assert(String(response.body.error).includes("nothing was changed"));
      assertEquals((await readDeals(service)).status, 200);
      assert(service.proxy.connections() - connections <= 1);
    });
  });
});
