import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";

describe("the longest patterns that are accepted, on the longest value that can be written", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table papers (id int4 primary key, tenant_id int4 not null, body text);
      insert into papers values (1, 1, '');
      grant select on papers to rowgate_app;
      grant update (body) on papers to rowgate_app;
      notify rowgate_catalogue`);
  });
  after(() => service.close());

  it("finish within the statement timeout [RE21] [L11]", async () => {
    const papers = "/integration/tables/papers";
    const written = await service.send("PATCH", `${papers}/records/single`, {
      body: { filters: { id: 1 }, fields: { body: "a".repeat(1_000_000) } },
    });
    assertEquals(written.status, 200, written.text.slice(0, 200));
    const value = `%${"a".repeat(38)}b`;
    const or = Array.from({ length: 50 }, () => ({ field: "body", op: "like", value }));
    const many = await service.send("POST", `${papers}/query`, {
      body: { filters: { or }, select: ["id"] },
    });
    assertEquals([many.status, many.body["total"]], [200, 0], many.text);
    const one = [{ field: "body", op: "like", value: `%${"a".repeat(1998)}b` }];
    const long = await service.send("POST", `${papers}/query`, {
      body: { filters: { or: one }, select: ["id"] },
    });
    assertEquals([long.status, long.body["total"]], [200, 0], long.text);
  });

  it("compares what contains looks for with 200,000 elements within the statement timeout [RE37] [Q108]", async () => {
    await describeShelf(service);
    const find = (field: string, op: string, values: readonly unknown[]) => {
      const or = values.map((value) => ({ field, op, value }));
      return service.send("POST", "/integration/tables/shelf/query", {
        body: { filters: { or }, select: ["id"] },
      });
    };
    for (const field of ["numbers", "texts", "doc"]) {
      const element = (n: number) => field === "texts" ? `element ${n}` : n;
      const lists = (count: number, size: number) =>
        Array.from(
          { length: count },
          (_, n) => [-n, ...Array.from({ length: size - 1 }, (_, m) => 200_000 - m)].map(element),
        );
      const accepted = await find(field, "contains", lists(40, 5));
      assertEquals([accepted.status, accepted.body["total"]], [200, 0], accepted.text);
      const rejected = await find(field, "contains", lists(49, 200));
      assertEquals(rejected.status, 400, rejected.text);
      assertMatch(
        String(rejected.body["error"]),
        /^filters\.or\[1\]\.value: .*at most 200 in all conditions of a request/,
      );
    }
  });

  it("end when they are cancelled: lists of 200 values in 50 conditions on large values [RE37]", async () => {
    const hurried = await createTestService("real", {
      environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "1000" },
    });
    try {
      await describeShelf(hurried);
      for (const field of ["doc", "spans"]) {
        // Postgres would compare with equal lists once.
        const valueOf = (place: number) =>
          Array.from(
            { length: 200 },
            (_, n) => field === "doc" ? -n - place : `{[${n},${n + 1 + place})}`,
          );
        for (const [combine, op] of [["or", "in"], ["and", "not_in"]] as const) {
          const filters = {
            [combine]: Array.from({ length: 50 }, (_, n) => ({ field, op, value: valueOf(n) })),
          };
          const { status, text } = await hurried.send(
            "POST",
            "/integration/tables/shelf/query",
            { body: { filters, select: ["id"] } },
          );
          assert(status === 200 || status === 504, text);
        }
      }
      // Postgres answered each: none ran on for 3 s after its timeout.
      const late = hurried.observations.filter((each) =>
        each.kind === "fault" && each.fault === "deadline"
      );
      assertEquals(late, []);
    } finally {
      await hurried.close();
    }
  });
});

/** Makes a table with one row of large values. */
async function describeShelf(service: TestService): Promise<void> {
  await service.database.admin.unsafe(`
    create table if not exists shelf (id int4 primary key, tenant_id int4 not null, numbers int4[],
      texts text[], doc jsonb, spans int4multirange);
    insert into shelf
      select 1, 1, array_agg(n), array_agg('element ' || n), jsonb_agg(n),
        range_agg(int4range(3 * n, 3 * n + 1)) filter (where n <= 70000)
      from generate_series(1, 200000) n
      on conflict do nothing;
    grant select on shelf to rowgate_app;
    notify rowgate_catalogue`);
}
