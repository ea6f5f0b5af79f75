// Updates by key that arrive together leave together; what becomes of each is what would alone.
import { assert, assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { DATABASE_KINDS } from "../../support/database.ts";
import { readMetrics } from "../../support/read_metrics.ts";
import { createTestService, IS_REMOTE, type TestService } from "../../support/service.ts";
import { openOtherSession } from "./other_session.ts";

const PIPELINED = 'rowgate_gathered_requests_total{operation="update_single"}';
const KEYS = Array.from({ length: 40 }, (_, place) => place + 1);

/** How many updates were pipelined with others so far, by the service's own metrics. */
async function countPipelined({ send }: TestService): Promise<number> {
  const { text } = await send("GET", "/metrics", { token: null });
  return readMetrics(text).samples.get(PIPELINED) ?? 0;
}

async function makeLots({ database: { admin }, send }: TestService): Promise<void> {
  await admin.unsafe(`
    create table lots (id int4 primary key, tenant_id int4 not null, n int4, note text unique,
      constraint lots_n check (n < 1000));
    grant select, update (n, note) on lots to rowgate_app;
    notify rowgate_catalogue`);
  const ask = () => send("POST", "/integration/tables/lots/query", { body: {} });
  while ((await ask()).status !== 200) await new Promise((go) => setTimeout(go, 20));
}

/** Rows 1 to 40, the even ones tenant 2's. */
async function fillLots({ database: { admin } }: TestService): Promise<void> {
  await admin.unsafe(`truncate lots;
    insert into lots select n, 2 - n % 2, 0 from generate_series(1, 40) n`);
}

for (const kind of DATABASE_KINDS) {
  describe(`Updates by key, ${kind}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService(kind);
      await makeLots(service);
    });
    beforeEach(() => fillLots(service));
    after(() => service.close());

    function update(id: number, fields: object, token = service.tokens.a!) {
      const body = { filters: { id }, fields };
      return service.send("PATCH", "/integration/tables/lots/records/single", { token, body });
    }

    async function read(): Promise<unknown[]> {
      const { admin } = service.database;
      return [...await admin`select id, n, note from lots order by id`]
        .map(({ id, n, note }) => [id, n, note]);
    }

    it("are sent together when they arrive in the same tick, with the results that they have on their own [U20]", async () => {
      const before = await countPipelined(service);
      // However the clients' packets fall, in some round two are read in one tick.
      for (let round = 1; round <= 20; round++) {
        const responses = await Promise.all(KEYS.map((id) => update(id, { n: round })));
        for (const [place, { status, body }] of responses.entries()) {
          const expected = place % 2 === 0 ? [200, 1, 1] : [404, 0, undefined];
          assertEquals([status, body["matched"], body["updated"]], expected);
        }
      }
      assertEquals(await read(), KEYS.map((id) => [id, id % 2 === 1 ? 20 : 0, null]));
      assert(IS_REMOTE || await countPipelined(service) > before, "no two left together");
    });

    it("write only their own tenant's row, whichever updates are beside them [S10]", async () => {
      const { a, b } = service.tokens;
      for (let round = 1; round <= 5; round++) {
        const responses = await Promise.all(
          KEYS.flatMap((id) => [update(id, { n: round }, a), update(id, { n: -round }, b)]),
        );
        const own = responses.map(({ status }, place) =>
          [200, 404][(place % 2 + Math.floor(place / 2)) % 2] === status
        );
        assertEquals(own, responses.map(() => true));
      }
      assertEquals(await read(), KEYS.map((id) => [id, id % 2 === 1 ? 5 : -5, null]));
    });

    it("are rejected one by one: by a constraint, a key that is taken, a value [E32] [E31]", async () => {
      await service.database.admin`update lots set note = 'taken' where id = 39`;
      for (let round = 1; round <= 5; round++) {
        const fields = (id: number) =>
          id % 8 === 1 ? { n: 1000 } : id % 8 === 3 ? { note: "taken" } : { n: round };
        const odd = KEYS.filter((id) => id % 2 === 1 && id !== 39);
        const responses = await Promise.all(odd.map((id) => update(id, fields(id))));
        assertEquals(
          responses.map(({ status }) => status),
          odd.map((id) => id % 8 === 1 ? 400 : id % 8 === 3 ? 409 : 200),
        );
      }
      const kept = (id: number) => id % 2 === 0 || id % 8 === 1 || id % 8 === 3 ? 0 : 5;
      assertEquals(
        await read(),
        KEYS.map((id) => id === 39 ? [39, 0, "taken"] : [id, kept(id), null]),
      );
    });

    it("of one row follow one another [CO9]", async () => {
      const responses = await Promise.all(KEYS.map((n) => update(1, { n, note: `by ${n}` })));
      assertEquals(responses.map(({ status }) => status), KEYS.map(() => 200));
      const [[, n, note]] = await read() as [[number, number, string]];
      assertEquals(note, `by ${n}`);
    });
  });
}

describe("Updates by key in trouble", () => {
  let service: TestService;
  const ODD = KEYS.filter((id) => id % 2 === 1);

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_LOCK_TIMEOUT_MS: "800", ROWGATE_AUDIT: "on" },
    });
    await makeLots(service);
  });
  beforeEach(async () => {
    await fillLots(service);
    await service.database.admin`truncate rowgate.audit`;
  });
  after(() => service.close());

  async function updateAll(n: number) {
    const responses = await Promise.all(ODD.map((id) => {
      const body = { filters: { id }, fields: { n } };
      return service.send("PATCH", "/integration/tables/lots/records/single", { body });
    }));
    return responses.map(({ status }) => status);
  }

  /** The rows that hold what was sent, and the rows of the audit. */
  async function read(n: number) {
    const rows = await service.database.admin<{ written: boolean; audited: number }[]>`
      select n = ${n} as written, (select count(*)::int4 from rowgate.audit) as audited
      from lots where id % 2 = 1 order by id`;
    return { written: rows.map(({ written }) => written), audited: rows[0]!.audited };
  }

  it("do not wait for a locked row of another update, and are either written or rejected [E39]", async () => {
    await updateAll(1);
    const other = await openOtherSession(service.database.admin);
    try {
      await other.run("begin; select from lots where id in (5, 11) for update");
      assertEquals(await updateAll(2), ODD.map((id) => id === 5 || id === 11 ? 503 : 200));
    } finally {
      await other.close();
    }
    const { written, audited } = await read(2);
    assertEquals(written, ODD.map((id) => id !== 5 && id !== 11));
    assertEquals(audited, 2 * ODD.length - 2);
    assertEquals(await updateAll(3), ODD.map(() => 200));
  });

  it("keep each acknowledged update once when sessions end meanwhile [E42] [R23]", async () => {
    for (let round = 10; round < 20; round++) {
      await service.database.admin`truncate rowgate.audit`;
      const [statuses] = await Promise.all([
        updateAll(round),
        service.database.admin`select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'rowgate_app' and datname = current_database()`,
      ]);
      assertEquals(statuses.filter((status) => status !== 200 && status !== 503), []);
      const { written, audited } = await read(round);
      const lost = ODD.filter((_, place) => statuses[place] === 200 && !written[place]);
      assertEquals(lost, []);
      assertEquals(audited, written.filter((each) => each).length);
    }
  });
});
