import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FaultProxy, startFaultProxy } from "../../support/fault_proxy.ts";
import { startNamingPooler } from "../../support/naming_pooler.ts";
import { findPooler, keepsStatements, startPooler } from "../../support/pooler.ts";
import { createTestService } from "../../support/service.ts";

const REQUESTS = 10;
const TRIES = 5;

/** What a request cost. */
interface Cost {
  readonly trips: number;
  /** Statements that were run under a name. */
  readonly named: number;
}

/** What is between the service and Postgres: opens it before a URL. */
interface Way {
  readonly prepare: "on" | "off" | "auto";
  readonly open: (
    url: string,
  ) => Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
  /** Run under a name, where the stand-in counts them. */
  readonly named?: () => number;
}

const program = await findPooler();
if (program === undefined) console.log("pgbouncer is not installed: nothing is tested behind it");

async function openPooler(url: string, settings = "") {
  const pooler = await startPooler(program!, url, { settings });
  return { url: pooler.through(url), stop: pooler.stop };
}

let counted = () => 0;
const WAYS: Readonly<Record<string, Way>> = {
  "straight to Postgres": {
    prepare: "on",
    open: (url) => Promise.resolve({ url, stop: () => Promise.resolve() }),
  },
  ...(program === undefined ? {} : {
    "behind PgBouncer, unprepared": { prepare: "off", open: openPooler },
    "behind a pooler that keeps statements, prepared": {
      prepare: "auto",
      async open(url) {
        const pooler = await openPooler(url);
        const naming = await startNamingPooler(pooler.url);
        counted = naming.count;
        const stop = async () => {
          await naming.stop();
          await pooler.stop();
        };
        return { url: naming.through(url), stop };
      },
      named: () => counted(),
    },
    ...(!keepsStatements(program) ? {} : {
      "behind PgBouncer 1.21 or newer, prepared": {
        prepare: "auto",
        open: (url) => openPooler(url, "max_prepared_statements = 100"),
      },
    }),
  }),
};

for (const [way, { prepare, open, named }] of Object.entries(WAYS)) {
  describe(way, () => {
    it("a look-up and single updates take one round trip each [DB32]", async () => {
      let proxy: FaultProxy | undefined;
      let between: Awaited<ReturnType<Way["open"]>> | undefined;
      const service = await createTestService("real", {
        environment: { ROWGATE_PREPARE: prepare },
        route: async (url) => {
          between = await open(url);
          proxy = await startFaultProxy(between.url);
          return proxy.through(url);
        },
      });
      /** Sends so many requests one after the other, and gives the round trips and names of each. */
      async function count(ask: (index: number) => Promise<{ readonly status: number }>) {
        const costs: Cost[] = [];
        for (let index = 0; index < REQUESTS; index++) {
          const before = { trips: proxy!.roundTrips(), named: named?.() ?? 0 };
          assertEquals((await ask(index)).status, 200);
          const after = { trips: proxy!.roundTrips(), named: named?.() ?? 0 };
          costs.push({ trips: after.trips - before.trips, named: after.named - before.named });
        }
        return costs;
      }
      const table = "/integration/tables/deals";
      const update = (filters: unknown) => (index: number) =>
        service.send("PATCH", `${table}/records/single`, {
          body: { filters, fields: { title: `title ${index}` } },
        });
      const requests = [
        () =>
          service.send("POST", `${table}/query`, {
            body: { filters: { and: [{ field: "fid", op: "eq", value: 6 }] } },
          }),
        update({ fid: 6 }),
        update({ external_no: 7 }),
      ];
      try {
        // What each session does once: it is opened, and a text is prepared at its second use.
        for (let round = 0; round < 2; round++) {
          for (const ask of requests) {
            await Promise.all(Array.from({ length: 8 }, (_, index) => ask(index)));
          }
        }
        for (const ask of requests) await count(ask);
        const measure = async () => {
          const costs: Cost[] = [];
          for (const ask of requests) costs.push(...await count(ask));
          return costs;
        };
        const expected = { trips: 1, named: named === undefined ? 0 : 1 };
        // The service looks after its sessions and tokens now and then, in the middle of some request.
        let least = await measure();
        for (let again = 0; again < TRIES && least.some(({ trips }) => trips > 1); again++) {
          least = (await measure()).map((cost, place) => leastOf(cost, least[place]!));
        }
        assertEquals(least, least.map(() => expected));
      } finally {
        await service.close();
        await proxy?.stop();
        await between?.stop();
      }
    });
  });
}

function leastOf(one: Cost, other: Cost): Cost {
  return { trips: Math.min(one.trips, other.trips), named: Math.min(one.named, other.named) };
}
