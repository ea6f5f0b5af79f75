import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type Fault, type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { createFaultyService, type FaultyService } from "./faulty_service.ts";
import {
  askOften,
  awaitRecovery,
  isLimit,
  isUnavailable,
  listFailures,
  readDeals,
} from "./load.ts";
import { IS_REMOTE } from "../../support/service.ts";

/** One request each ten milliseconds. */
const LOAD = { everyMs: 10, times: 200 };
/** Far fewer than those that come before a request has waited as long as it may. */
const MOST_PENDING = 100;

/** In the middle of the parameters that a session begins with, after the password was taken. */
const AFTER_FIRST_PARAMETERS = 300;

describe("a database that cannot be connected to", () => {
  let service: FaultyService;

  before(async () => {
    service = await createFaultyService();
  });
  after(() => service.close());

  const faults: readonly (readonly [string, Fault])[] = [
    ["accepts and closes [DB8]", { kind: "accept_and_close" }],
    ["refuses [DB7]", { kind: "refuse" }],
    [
      "cuts each connection in its first bytes [DB10]",
      { kind: "cut_always", afterBytes: 20 },
    ],
    [
      "lets in and then closes, before it is ready [DB14] [DB21]",
      { kind: "cut_always", afterBytes: AFTER_FIRST_PARAMETERS },
    ],
  ];
  for (const [name, fault] of faults) {
    it(`gets few attempts to connect, and makes no request wait, when it ${name}`, async () => {
      await awaitRecovery(service);
      await service.proxy.during(fault, async () => {
        const connections = service.proxy.connections();
        const { responses, mostPending } = await askOften(() => readDeals(service), LOAD);
        const connects = service.proxy.connections() - connections;
        assertEquals(
          responses.filter((response) => !isUnavailable(response)).map(({ text }) => text),
          [],
        );
        // One for ten requests; how many a second [DB8] counts under a clock of its own.
        assert(connects <= responses.length / 10, `${connects} connections`);
        assert(mostPending < MOST_PENDING, `${mostPending} waited`);
      });
      await awaitRecovery(service);
    });
  }

  it("is given up at the limit for connecting when it never speaks [DB9]", async () => {
    await awaitRecovery(service);
    service.proxy.drop("rst");
    await service.proxy.during({ kind: "black_hole" }, async () => {
      const connections = service.proxy.connections();
      const observed = service.observations.length;
      const responses = await Promise.all([1, 2, 3].map(() => readDeals(service)));
      assertEquals(responses.map(isUnavailable), [true, true, true]);
      const causes = listFailures(service, observed);
      assert(IS_REMOTE || causes.length > 0 && causes.every(isLimit), `${causes}`);
      assert(service.proxy.connections() - connections <= 20);
    });
    await awaitRecovery(service);
  });

  it("still serves over its open sessions when Postgres accepts no more [DB18]", async () => {
    await awaitRecovery(service);
    const { admin } = service.database;
    // One session is there, beside ours; of those asked for now, none is let in. A limit of the role
    // would hold for all tests that run meanwhile.
    const [{ name }] = await admin<[{ name: string }]>`select current_database() as name`;
    const limit = (most: number) =>
      admin.unsafe(`alter database "${name}" connection limit ${most}`);
    await limit(1);
    try {
      const { responses, mostPending } = await askOften(() => readDeals(service), LOAD);
      const served = responses.filter(({ status }) => status === 200).length;
      assert(served > 0, "nothing was served");
      assertEquals(
        responses.filter((response) => response.status !== 200 && !isUnavailable(response)),
        [],
      );
      assert(mostPending < MOST_PENDING, `${mostPending} waited`);
    } finally {
      await limit(-1);
    }
    await awaitRecovery(service);
  });
});

describe("of two servers, a first one that never speaks", () => {
  let service: FaultyService;
  let second: FaultProxy;

  before(async () => {
    service = await createFaultyService({
      before: async (url, through) => {
        second = await startFaultProxy(url);
        return through.replace("@127.0.0.1", `@127.0.0.1:${second.port},127.0.0.1`);
      },
    });
  });
  after(async () => {
    await service.close();
    await second.stop();
  });

  it("is tried last from then on [DB9] [DB19]", async () => {
    await awaitRecovery(service);
    await second.during({ kind: "black_hole" }, async () => {
      second.drop("rst");
      await awaitRecovery(service);
      service.proxy.drop("rst");
      const connections = second.connections();
      assertEquals((await readDeals(service)).status, 200);
      assertEquals(second.connections(), connections);
    });
  });
});
