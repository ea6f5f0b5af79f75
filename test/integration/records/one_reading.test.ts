// Page and total of a sorted query come from one reading of the rows as long as these are not many, from two beyond:
// whatever it was, the responses are the same.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { MAX_ROWS_KEPT } from "../../../src/basics/errors/limits.ts";
import { createTestService, type TestService } from "../../support/service.ts";

/** Matches of tenant 1: below the limit, at it, beyond it. */
const MATCHES = [0, 1, 3, 50, MAX_ROWS_KEPT, MAX_ROWS_KEPT + 1, MAX_ROWS_KEPT + 500];
const PAGES = [[1, 3], [2, 25], [200, 50], [201, 50], [400, 200]] as const;

describe("Queries in an order that no index gives", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table parcels (tenant_id int4 not null, id int4, weight int4, label text,
        primary key (tenant_id, id));
      insert into parcels select t, n, (n * 7919) % 10007, 'p' || n
        from generate_series(1, 2) t, generate_series(1, ${MAX_ROWS_KEPT + 500}) n;
      grant select on parcels to rowgate_app;
      notify rowgate_catalogue`);
    await service.catalogue.current();
    while ((await ask({ per_page: 1 })).status !== 200) {
      await new Promise((go) => setTimeout(go, 20));
    }
  });
  after(() => service.close());

  function ask(body: object, headers: Record<string, string> = {}) {
    return service.send("POST", "/integration/tables/parcels/query", { body, headers });
  }

  async function compareAll(): Promise<void> {
    for (const matches of MATCHES) {
      for (const [page, per_page] of PAGES) {
        const { body } = await ask({
          filters: { and: [{ field: "id", op: "lte", value: matches }] },
          sort: [{ field: "weight", direction: "desc" }],
          select: ["label", "id"],
          page,
          per_page,
        });
        const records = await service.database.admin`
          select label, id from parcels where tenant_id = 1 and id <= ${matches}
          order by weight desc, tenant_id, id limit ${per_page} offset ${(page - 1) * per_page}`;
        const { total, records: found } = body as { total: number; records: unknown };
        assertEquals(total, matches);
        assertEquals(found, [...records.map((row) => ({ ...row }))]);
      }
    }
  }

  it(
    "return the same page and total however many rows match [Q85] [Q86]",
    compareAll,
  );

  it("return the same when a new index provides the order [Q85] [Q60]", async () => {
    const ordered = async () =>
      (await service.catalogue.current()).tables.get("parcels")?.orderedByIndex.has(
        '"weight"' as never,
      );
    assertEquals(await ordered(), false);
    await service.database.admin.unsafe(`
      create index parcels_weight on parcels (tenant_id, weight); notify rowgate_catalogue`);
    while (!await ordered()) await new Promise((go) => setTimeout(go, 20));
    await compareAll();
  });
});
