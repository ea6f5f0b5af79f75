import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { createTestService, type TestService } from "../../support/service.ts";

const MAX_IN_FLIGHT = 60;
const POOL_SIZE = 5;

describe("a service under overload", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService("real", {
      environment: {
        ROWGATE_POOL_SIZE: String(POOL_SIZE),
        ROWGATE_POOL_WAIT_MS: "2000",
        ROWGATE_LOCK_TIMEOUT_MS: "60000",
        ROWGATE_MAX_IN_FLIGHT: String(MAX_IN_FLIGHT),
      },
    });
  });
  afterAll(() => service.close());

  function query(table: string, token: string, body: unknown = {}) {
    return service.send("POST", `/integration/tables/${table}/query`, { token, body });
  }

  /** Runs it while every statement on `deals` waits. */
  async function whileHeld(body: () => Promise<void>): Promise<void> {
    await service.database.admin.begin(async (other) => {
      await other`lock table deals in access exclusive mode`;
      await body();
    });
  }

  const countOf = (result: string) =>
    service.observations.filter((seen) => seen.kind === "token_lookup" && seen.result === result)
      .length;

  it("looks up an unknown token once for 500 requests", async () => {
    const token = await service.issue({ name: "cold" });
    const asked = countOf("miss");
    const all = await Promise.all(
      Array.from({ length: MAX_IN_FLIGHT }, () => query("guests", token)),
    );
    assertEquals(countOf("miss") - asked, 1);
    assertEquals([...new Set(all.map(({ status }) => status))], [200]);
  });

  it("serves forty fast statements before any of three slow ones has ended [RE9]", async () => {
    const { a, b } = service.tokens;
    let slow: Promise<{ status: number }[]> | undefined;
    await whileHeld(async () => {
      slow = Promise.all([1, 2, 3].map(() => query("deals", a)));
      const fast = await Promise.all(Array.from({ length: 40 }, () => query("guests", b)));
      assertEquals([...new Set(fast.map(({ status }) => status))], [200]);
    });
    assertEquals((await slow!).map(({ status }) => status), [200, 200, 200]);
  });

  it("serves a tenant while another has filled the pool, its queue and the service [RE10] [R19]", async () => {
    const { a, b } = service.tokens;
    // Both are known, and the lock holds nothing that is not asked for.
    await Promise.all([query("guests", a), query("guests", b)]);
    let flood: Promise<{ status: number }[]> | undefined;
    await whileHeld(async () => {
      let answered = 0;
      flood = Promise.all(Array.from({ length: MAX_IN_FLIGHT }, async () => {
        const response = await query("deals", a);
        answered++;
        return response;
      }));
      const rejected = await query("guests", a);
      assertEquals(rejected.status, 503);
      assertMatch(rejected.headers.get("retry-after") ?? "", /^\d+$/);
      for (let request = 0; request < 10; request++) {
        assertEquals((await query("guests", b)).status, 200);
      }
      assertEquals(answered, 0);
    });
    const statuses = new Set((await flood!).map(({ status }) => status));
    statuses.delete(503);
    assertEquals([...statuses], [200]);
  });

  it("responds with 503 and Retry-After after the wait while all connections are in use, and recovers at once [RE8]", async () => {
    const { a, b } = service.tokens;
    const c = await service.issue({ name: "c", tenant: "3" });
    // Each is known, and active.
    await Promise.all([a, b, c].map((token) => query("guests", token)));
    let holding: Promise<unknown> | undefined;
    await whileHeld(async () => {
      holding = Promise.all([a, a, a, a, a, b, b, c].map((token) => query("deals", token)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const response = await query("guests", service.tokens.uuid);
      // Three tenants hold all there is.
      assertEquals(response.status, 503, response.text);
      assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
    });
    await holding;
    assertEquals((await query("guests", a)).status, 200);
  });

  it("uses no connection for requests that are rejected before the database [RE16]", async () => {
    const { a, query: mayNotUpdate } = service.tokens;
    await Promise.all([query("guests", a), query("guests", mayNotUpdate)]);
    const seen = service.observations.length;
    const body = { filters: {}, unknown: 1 };
    const statuses: number[] = [];
    for (let round = 0; round < 100; round++) {
      const responses = await Promise.all([
        query("guests", `rg_bogus${round}`),
        query("guests", a, body),
        query("user_passwords", a),
        service.send("GET", "/nowhere"),
        service.send("POST", "/integration/tables/guests/query", { token: a, raw: "{" }),
        service.send("PATCH", "/integration/tables/guests/records/bulk", { token: mayNotUpdate }),
      ]);
      statuses.push(...responses.map(({ status }) => status));
    }
    assertEquals(new Set(statuses), new Set([401, 400, 403, 404]));
    const used = service.observations.slice(seen).filter(({ kind }) => kind === "pool");
    // A token that was believed for 4 s may have been looked up again.
    const misses =
      service.observations.slice(seen).filter((reported) =>
        reported.kind === "token_lookup" && reported.result === "miss"
      ).length;
    assertEquals(used.length, misses * 2);
  });
});

describe("tokens by the thousand", () => {
  let service: TestService;
  beforeAll(async () => service = await createTestService("real"));
  afterAll(() => service.close());

  const lookups = (result: string) =>
    service.observations.filter((seen) => seen.kind === "token_lookup" && seen.result === result)
      .length;
  const ask = (token: string) =>
    service.app(
      new Request("http://127.0.0.1/integration/token", {
        headers: { authorization: `Bearer ${token}` },
      }),
    );

  it("looks up an unknown token once for 500 requests", async () => {
    const responses = await Promise.all(Array.from({ length: 500 }, () => ask(service.tokens.a)));
    assertEquals(new Set(responses.map(({ status }) => status)), new Set([200]));
    assertEquals(lookups("miss"), 1);
  });

  it("responds to 5,000 bogus tokens without the database", async () => {
    const misses = lookups("miss");
    const used = service.observations.filter(({ kind }) => kind === "pool").length;
    const [prefix, id, secret] = service.tokens.a.split("_");
    for (let round = 0; round < 50; round++) {
      // Of a token's form, with another digit in its secret: the checksum shows it.
      const bogus = Array.from({ length: 100 }, (_, place) => {
        const digits = String(round * 100 + place).padStart(6, "0");
        return `${prefix}_${id}_${digits}${secret!.slice(6)}`;
      });
      const statuses = await Promise.all(bogus.map(async (token) => (await ask(token)).status));
      assertEquals(statuses.every((status) => status === 401), true);
    }
    assertEquals(lookups("miss"), misses);
    assertEquals(service.observations.filter(({ kind }) => kind === "pool").length, used);
  });
});

describe("two thousand shapes of queries", () => {
  const COLUMNS = ["fid", "external_no", "title", "status", "amount", "probability", "closed"];
  const MORE = ["owner", "stage", "modified_at", "created_on", "note", "code"];

  it("prepare only 256 statements, so that the memory of the backend does not grow [RE11]", async () => {
    const service = await createTestService("real", { environment: { ROWGATE_POOL_SIZE: "1" } });
    try {
      const columns = [...COLUMNS, ...MORE];
      /** Twice, since a shape that is sent once is not prepared. */
      const ask = async (shape: number) => {
        const items = columns.filter((_, bit) => (shape >> bit & 1) === 1)
          .map((field) => ({ field, op: "is_not_null" }));
        const body = { filters: { and: items }, select: ["fid"], per_page: 1 };
        const path = "/integration/tables/deals/query";
        for (const _ of [1, 2]) {
          assertEquals((await service.send("POST", path, { body })).status, 200);
        }
      };
      for (let shape = 0; shape < 500; shape++) await ask(shape);
      // On a slow machine the catalogue is read meanwhile, whose plan takes some MB of the backend.
      const { catalogue } = service;
      await catalogue.refresh(await catalogue.current(), { reason: "test" });
      const before = await readBackendMiB(service);
      for (let shape = 500; shape < 2000; shape++) await ask(shape);
      const grown = await readBackendMiB(service) - before;
      const prepared = service.observations.flatMap((seen) =>
        seen.kind === "prepared" ? [seen.statements] : []
      );
      // Texts that the service itself has sent once have places as well.
      const most = Math.max(...prepared);
      assert(most > 240 && most <= 256, `${most} texts`);
      // 1,500 more prepared ones would be more than 37 MB.
      assert(grown < 10, `the backend grew by ${grown} MiB`);
    } finally {
      await service.close();
    }
  });
});

async function readBackendMiB({ database }: TestService): Promise<number> {
  const backends = await database.admin<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'rowgate' and usename = 'rowgate_app'`;
  const memory = await Promise.all(backends.map(async ({ pid }) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/^RssAnon:\s+(\d+)/m.exec(status)![1]) / 1024;
  }));
  return Math.max(...memory);
}
