// After five executions Postgres may plan a prepared statement without its values. Where these decide which plan is best,
// it must not: the views of the session itself say how often it did.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import type { Table } from "../../../src/catalogue/catalogue.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import type { Row, Sql } from "../../../src/database/postgres/driver.ts";
import { openRecords } from "../../../src/records/records.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { makeAccess } from "../../support/table.ts";
import { openSubject } from "../database/open_subject.ts";

const ROWS = 30_000;
const TIMES = 12;
/** A text is prepared when it is used again. */
const UNPREPARED = 1;

/** A statement of the session, and how often it was planned with and without its values. */
interface Prepared extends Row {
  readonly custom: number;
  readonly generic: number;
}

describe("The plans of a session that has served many requests", () => {
  let test: TestDatabase;
  let database: Database;
  let table: Table;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table visits (tenant_id int4 not null, id int8 not null, owner int4 not null,
        status text not null, at timestamptz not null, name text not null, primary key (tenant_id, id));
      insert into visits select 1, n, n % 300, case when n % 3000 = 0 then 'rare' else 'common' end,
        timestamptz '2024-01-01 00:00:00+00' + n * interval '1 minute', 'visit ' || n
        from generate_series(1, ${ROWS}) n;
      create index on visits (tenant_id, at);
      create index on visits (tenant_id, owner);
      create index on visits (tenant_id, status);
      create index on visits (tenant_id, name text_pattern_ops);
      analyze visits;
      grant select on visits to rowgate_app`);
    ({ database } = openSubject({ ...test, url: test.servingUrl }, { poolSize: 1 }));
    const following = followDatabase(database, {
      schemas: ["public"],
      tenantColumn: "tenant_id",
      policy: EMPTY_POLICY,
      observe() {},
    });
    table = (await following.current()).tables.get("visits")!;
    following.close();
  });
  after(async () => {
    await database.close(1000);
    await test.drop();
  });

  /** Sends requests of one shape, and gives how their statements were planned since. */
  async function ask(bodies: readonly object[], tenantSetting?: string): Promise<Prepared> {
    const records = openRecords(database, { observe() {}, tenantSetting, exports: 2 });
    const seen = await listPrepared();
    for (let time = 0; time < TIMES; time++) {
      for (const body of bodies) {
        const access = makeAccess();
        const options = { table, access, count: false, wideNumbersAsText: false };
        const plan = planQuery(parseQueryRequest(body), options);
        await records.read(plan, { client: new AbortController(), document: body });
      }
    }
    const found = await listPrepared();
    const added = [...found].filter(([statement]) => !seen.has(statement));
    assertEquals(added.length, 1, "one shape has one statement");
    return added[0]![1];
  }

  async function listPrepared(): Promise<Map<string, Prepared>> {
    const rows = await database.run<Prepared & { statement: string }>(
      (sql) =>
        sql`
        select statement, custom_plans::int4 custom, generic_plans::int4 generic
        from pg_catalog.pg_prepared_statements where statement like '%visits%"$row"%' and statement not like '%custom_plans%'`,
      {
        write: false,
      },
    );
    return new Map(rows.map((row) => [row.statement, row]));
  }

  const byKey = [{ field: "id", direction: "asc" }];
  const filter = (...and: readonly object[]) => ({ filters: { and } });
  const range = (from: string, to: string) => (
    { field: "at", op: "between", value: [`2024-01-${from}T00:00:00Z`, `2024-01-${to}T00:00:00Z`] }
  );
  const [narrow, wide] = [range("03", "04"), range("01", "31")];
  const equals = (field: string, value: unknown) => ({ field, op: "eq", value });

  /** Bodies whose first ones are expensive, which makes a plan without values look cheap. */
  const CHOICES: Readonly<Record<string, readonly object[]>> = {
    "a range beside another order": [wide, narrow].map((one) => ({ ...filter(one), sort: byKey })),
    "the same, later pages": [wide, narrow].map((one) => ({
      ...filter(one),
      sort: byKey,
      page: 3,
    })),
    "a rare value in the order of the key": ["common", "rare"]
      .map((value) => ({ ...filter(equals("status", value)), sort: byKey })),
    "a value of one indexed column": ["common", "rare"].map((value) =>
      filter(equals("status", value))
    ),
    "two indexes": [wide, narrow].map((one) => filter(one, equals("owner", 7))),
    "a list beside another order": [[1, 2, 3], [7]]
      .map((value) => ({ ...filter({ field: "owner", op: "in", value }), sort: byKey })),
    "a pattern": ["%i%", "visit 77%"].map((value) => filter({ field: "name", op: "like", value })),
  };

  for (const [title, bodies] of Object.entries(CHOICES)) {
    it(`are made for the values at hand: ${title} [P32]`, async () => {
      const { custom, generic } = await ask(bodies);
      assertEquals([custom, generic], [TIMES * bodies.length - UNPREPARED, 0]);
    });
  }

  it("are made for the values at hand where each statement carries the tenant's setting [P32] [R22]", async () => {
    const { custom, generic } = await ask(CHOICES["a range beside another order"]!, "app.tenant");
    assertEquals([custom, generic], [TIMES * 2 - UNPREPARED, 0]);
  });

  it("are generic where Postgres is left to choose, so that the other tests can fail", async () => {
    const compile = (from: string, to: string) => (sql: Sql) =>
      sql<Row[]>`
        select count(*) from public.visits "$row"
        where tenant_id = ${"1"}::text::int4
          and at between ${from}::timestamptz and ${to}::timestamptz`;
    for (let time = 0; time < TIMES; time++) {
      await database.run(compile("2024-01-01", "2024-01-31"), { write: false });
    }
    const [, { generic }] = [...await listPrepared()].find(([text]) => !text.includes("$page"))!;
    assert(generic > 0, "Postgres now knows better: see whether P32 is still needed");
  });

  it("are made once for all values of a key [P11]", async () => {
    const { custom, generic } = await ask([filter(equals("id", 7)), filter(equals("id", 8))]);
    assertEquals([custom <= 6, generic > 0], [true, true]);
  });
});
