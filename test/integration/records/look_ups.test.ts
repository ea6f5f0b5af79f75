// Look-ups by key that arrive together share a statement; each response is what it would be alone.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { DATABASE_KINDS } from "../../support/database.ts";
import { readMetrics } from "../../support/read_metrics.ts";
import { ACCESS } from "../../support/access.ts";
import { createTestService, IS_REMOTE, type TestService } from "../../support/service.ts";

/** Tables of the fixture: every type, keys of several columns, partitions, a tenant that is a uuid. */
const TABLES = {
  deals: ["fid"],
  everything: ["id"],
  order_lines: ["order_no", "line_no"],
  guests: ["id"],
  documents: ["id"],
} as const;
type Table = keyof typeof TABLES;

interface Asked {
  readonly table: Table;
  readonly token: string;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

function ask(service: TestService, { table, token, body, headers = {} }: Asked) {
  return service.send("POST", `/integration/tables/${table}/query`, { token, body, headers });
}

/** A look-up of each key that any tenant has, by each tenant, and of one that no tenant has. */
async function listLookUps(service: TestService, table: Table): Promise<Asked[]> {
  const { a, b, uuid } = service.tokens;
  const tokens = table === "documents" ? [uuid] : [a, b];
  const keys = new Map<string, object>();
  for (const token of tokens) {
    const body = { select: TABLES[table], per_page: 40 };
    const { body: { records } } = await ask(service, { table, token, body });
    for (const record of records as Record<string, unknown>[]) {
      const and = Object.entries(record).map(([field, value]) => ({ field, op: "eq", value }));
      keys.set(JSON.stringify(record), { filters: { and } });
    }
  }
  const and = TABLES[table].map((field) => ({ field, op: "eq", value: 0 }));
  return [...keys.values(), { filters: { and } }].flatMap((body) =>
    tokens.map((token) => ({ table, token, body }))
  );
}

const BATCHED = 'rowgate_gathered_requests_total{operation="query_records"}';

/** How many look-ups shared a statement so far, by the service's metrics. */
async function countBatched({ send }: TestService): Promise<number> {
  const { text } = await send("GET", "/metrics", { token: null });
  return readMetrics(text).samples.get(BATCHED) ?? 0;
}

/** With a server in another process, each request may arrive in a tick of its own. */
function assertBatched(lookUps: number): void {
  // Statements of their own are paused by table, so trouble in one test lasts into the next.
  if (!IS_REMOTE && ACCESS !== "rls") assert(lookUps > 0, "no two look-ups were batched");
}

for (const kind of DATABASE_KINDS) {
  describe(`Look-ups by key, ${kind}`, () => {
    let service: TestService;

    before(async () => service = await createTestService(kind));
    after(() => service.close());

    async function compare(asked: readonly Asked[]): Promise<void> {
      const alone: string[] = [];
      for (const one of asked) alone.push((await ask(service, one)).text);
      const before = await countBatched(service);
      const together = await Promise.all(asked.map((one) => ask(service, one)));
      assertEquals(together.map(({ text }) => text), alone);
      assertBatched(await countBatched(service) - before);
    }

    for (const table of Object.keys(TABLES) as Table[]) {
      it(`have the same response in a batch as on their own: ${table} [Q86] [TE2]`, async () => {
        const lookUps = await listLookUps(service, table);
        assert(lookUps.length > 2);
        await compare(lookUps);
      });
    }

    it("have the requested columns, numbers and count [V21] [Q88]", async () => {
      const all = await listLookUps(service, "everything");
      const select = ["c_numeric", "id", "c_int8"];
      const headers = {
        "Accept": "application/json;IEEE754Compatible=true",
        "Prefer": "count=none",
      };
      await compare(all.map((one) => ({ ...one, body: { ...one.body, select }, headers })));
    });

    it("share statements when they arrive in the same tick", async () => {
      const lookUps = await listLookUps(service, "guests");
      // However the clients' packets fall, in some round two are read in one tick.
      const before = await countBatched(service);
      let batched = 0;
      for (let round = 0; batched === 0 && round < 20; round++) {
        await Promise.all(lookUps.map((one) => ask(service, one)));
        batched = await countBatched(service) - before;
      }
      assert(batched > 0);
    });

    it("reveal no other tenant's row, whichever look-ups are beside them [S9] [TE2]", async () => {
      const { a, b } = service.tokens;
      const lookUps = await listLookUps(service, "deals");
      const responses = await Promise.all(lookUps.map((one) => ask(service, one)));
      const found = (token: string) =>
        lookUps.flatMap(({ token: own, body }, place) =>
          own === token && responses[place]!.body["total"] === 1 ? [JSON.stringify(body)] : []
        );
      const [ofA, ofB] = [found(a!), found(b!)];
      assert(ofA.length > 0 && ofB.length > 0);
      assertEquals(ofA.filter((body) => ofB.includes(body)), []);
    });
  });
}

describe("Look-ups by key in trouble", () => {
  let service: TestService;
  const KEYS = Array.from({ length: 40 }, (_, place) => place + 1);
  const LARGE = 41;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_LOCK_TIMEOUT_MS: "800", ROWGATE_POOL_WAIT_MS: "1000" },
    });
    await service.database.admin.unsafe(`
      create table parcels (id int4 primary key, tenant_id int4 not null, label text, gone text);
      insert into parcels select n, 1, 'parcel ' || n from generate_series(1, 40) n;
      insert into parcels values (${LARGE}, 1, repeat('x', 100000));
      create table crates (like parcels including all);
      insert into crates select * from parcels;
      grant select on parcels, crates to rowgate_app;
      notify rowgate_catalogue`);
    while ((await find(1)).status !== 200) await new Promise((go) => setTimeout(go, 20));
  });
  after(() => service.close());

  function find(value: number, table = "parcels") {
    const body = { filters: { and: [{ field: "id", op: "eq", value }] } };
    return service.send("POST", `/integration/tables/${table}/query`, { body });
  }

  /** The row of each key, and how many of the responses shared a statement. */
  async function findAll(keys = KEYS, table?: string) {
    const before = await countBatched(service);
    const responses = await Promise.all(keys.map((key) => find(key, table)));
    const rows = responses.map(({ status, body }) => {
      const records = (body["records"] ?? []) as { id: number; label: string }[];
      return [status, records[0]?.id ?? 0, records[0]?.label.length ?? 0];
    });
    return { rows, batched: await countBatched(service) - before };
  }

  const ALL = KEYS.map((key) => [200, key, `parcel ${key}`.length]);

  it("wait for a locked table no longer in a batch than on their own [E39]", async () => {
    await service.database.admin.begin(async (sql) => {
      await sql.unsafe("lock table parcels in access exclusive mode");
      const { rows, batched } = await findAll();
      assertEquals(rows, KEYS.map(() => [503, 0, 0]));
      assertBatched(batched);
    });
    const { rows, batched } = await findAll();
    assertEquals(rows, ALL);
    assertEquals(batched, 0);
  });

  it("return their row after a column was dropped [T42]", async () => {
    await service.database.admin.unsafe("alter table parcels drop column gone");
    assertEquals((await findAll()).rows, ALL);
  });

  it("return their row when sessions end meanwhile [E43]", async () => {
    const [{ rows, batched }] = await Promise.all([
      findAll(),
      service.database.admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'rowgate_app' and datname = current_database()`),
    ]);
    assertEquals(rows, ALL);
    assertBatched(batched);
  });

  it("return a large row [Q86]", async () => {
    // Of a table whose look-ups have not been in trouble.
    const { rows, batched } = await findAll([...KEYS, LARGE], "crates");
    assertEquals(rows, [...ALL, [200, LARGE, 100_000]]);
    assertBatched(batched);
  });
});

describe("Look-ups by key under the operator's row level security", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_TENANT_SETTING: "app.tenant_id", ROWGATE_LOCK_TIMEOUT_MS: "800" },
    });
  });
  after(() => service.close());

  it("each have a statement of their own, which carries their tenant, and are sent together [R22] [TE18]", async () => {
    const lookUps = await listLookUps(service, "deals");
    const alone: string[] = [];
    for (const one of lookUps) alone.push((await ask(service, one)).text);
    // However the clients' packets fall, in some round two are read in one tick.
    const sentTogether = async () => IS_REMOTE || await countBatched(service) > 0;
    for (let round = 0; round < 3 || round < 20 && !await sentTogether(); round++) {
      const responses = await Promise.all(lookUps.map((one) => ask(service, one)));
      assertEquals(responses.map(({ text }) => text), alone);
    }
    assert(await sentTogether(), "no two left together");
  });

  it("return their row when sessions end meanwhile [E43]", async () => {
    const lookUps = await listLookUps(service, "guests");
    for (let round = 0; round < 5; round++) {
      const [responses] = await Promise.all([
        Promise.all(lookUps.map((one) => ask(service, one))),
        service.database.admin.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'rowgate_app' and datname = current_database()`),
      ]);
      assertEquals(responses.filter(({ status }) => status !== 200), []);
    }
  });

  it("wait for a locked table no longer in a batch than on their own [E39]", async () => {
    const lookUps = await listLookUps(service, "order_lines");
    await service.database.admin.begin(async (sql) => {
      await sql.unsafe("lock table order_lines in access exclusive mode");
      const responses = await Promise.all(lookUps.slice(0, 8).map((one) => ask(service, one)));
      assertEquals(new Set(responses.map(({ status }) => status)), new Set([503]));
    });
  });
});
