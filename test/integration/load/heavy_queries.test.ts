import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openSecondInstance } from "../records/second_instance.ts";

const STATEMENT_TIMEOUT_MS = 2000;

describe("a million rows without an index", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService("real", {
      environment: {
        ROWGATE_POOL_SIZE: "5",
        // Those that wait longer are of no interest: each second costs one of all processors.
        ROWGATE_POOL_WAIT_MS: "1000",
        ROWGATE_STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS),
      },
    });
    await service.database.admin.unsafe(`
      create unlogged table visits (id int4 primary key, tenant_id int4 not null, page text);
      insert into visits select n, 1, repeat('lorem ipsum dolor ', 8) || n from generate_series(1, 1000000) n;
      grant select on visits to rowgate_app`);
  });
  afterAll(() => service.close());

  it("answers fifty unindexed searches with 504 or 503, serves other tenants meanwhile, and recovers [RE14]", async () => {
    const { a, b } = service.tokens;
    const or = Array.from({ length: 50 }, (_, n) => ({
      field: "page",
      op: "like",
      value: `%${n}%no%such%page%`,
    }));
    let running = 50;
    const heavy = Promise.all(Array.from({ length: 50 }, async () => {
      const body = { filters: { or }, sort: [{ field: "page" }] };
      const response = await service.send("POST", "/integration/tables/visits/query", {
        token: a,
        body,
      });
      running--;
      return response;
    }));
    let served = 0;
    while (running > 0) {
      const beside = await service.send("POST", "/integration/tables/guests/query", {
        token: b,
        body: {},
      });
      assertEquals(beside.status, 200);
      served++;
    }
    assert(served > 0);
    const responses = await heavy;
    const statuses = new Set(responses.map(({ status }) => status));
    assert(statuses.has(504));
    statuses.delete(504);
    statuses.delete(503);
    assertEquals([...statuses], []);
    for (const { status, headers } of responses) {
      if (status === 503) assertMatch(headers.get("retry-after") ?? "", /^\d+$/);
    }
    // A response does not wait until Postgres has ended what it cancels.
    await waitUntil(async () => {
      const [left] = await service.database.admin<[{ count: number }]>`
        select count(*)::int4 from pg_stat_activity
        where datname = current_database() and usename = 'rowgate_app' and state = 'active'`;
      return left.count === 0;
    });
  });

  it("responds to a page half a million rows in, within the statement timeout [RE15]", async () => {
    // The usual statement timeout: that of the test before is one that a busy machine can need.
    const usual = openSecondInstance(service.database, service.tokens.a);
    try {
      const response = await usual.send("POST", "/integration/tables/visits/query", {
        body: { page: 2500, per_page: 200, sort: [{ field: "id" }], select: ["id"] },
      });
      assertEquals(response.status, 200, response.text);
      assertEquals((response.body["records"] as { id: number }[])[0]?.id, 499_801);
    } finally {
      await usual.close();
    }
  });
});
