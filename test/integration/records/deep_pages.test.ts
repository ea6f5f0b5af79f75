// Deep pages in order of the key are found by their keys first; the responses are those of any other page.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";

/** The tenant in the key; the key alone, behind the tenant in another index, and without one. */
const TABLES = {
  in_key: ["primary key (tenant_id, day, id)", true],
  behind_tenant: ["primary key (id), unique (tenant_id, id)", true],
  without_index: ["primary key (id)", false],
} as const;
const ROWS = 1300;
const PAGES = [[20, 50], [21, 50], [26, 50], [27, 50], [6, 200], [1001, 1]] as const;

for (const [table, [key, keyIndexed]] of Object.entries(TABLES)) {
  describe(`Deep pages of a table with ${key}`, () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real");
      await service.database.admin.unsafe(`
        create table ${table} (tenant_id int4 not null, day date not null, id int4 not null,
          label text, ${key});
        insert into ${table} select t, date '2026-01-01' + n % 7, n * 2 + t, 'row ' || n
          from generate_series(1, 2) t, generate_series(1, ${ROWS}) n;
        grant select on ${table} to rowgate_app;
        notify rowgate_catalogue`);
      while ((await ask({ per_page: 1 })).status !== 200) {
        await new Promise((go) => setTimeout(go, 20));
      }
    });
    after(() => service.close());

    function ask(body: object, headers: Record<string, string> = {}) {
      return service.send("POST", `/integration/tables/${table}/query`, { body, headers });
    }

    const orders = [
      [[{ field: "id", direction: "asc" }], "id"],
      [[{ field: "id", direction: "desc" }], "id desc"],
      [[{ field: "day", direction: "desc" }], "day desc, id"],
      [[{ field: "label", direction: "asc" }], "label, id"],
    ] as const;
    for (const [sort, order] of orders) {
      it(`are what they would be otherwise, by ${order} [Q70] [Q60]`, async () => {
        for (const [page, per_page] of PAGES) {
          for (const from of [0, 500]) {
            const filters = { and: [{ field: "id", op: "gt", value: from }] };
            const { body } = await ask({ filters, sort, page, per_page });
            const records = await service.database.admin.unsafe(
              `select row_to_json(t) as row from ${table} t where tenant_id = 1 and id > ${from}
                order by ${order} limit ${per_page} offset ${(page - 1) * per_page}`,
            );
            assertEquals(body["records"], records.map(({ row }) => row));
            assertEquals(body["total"], ROWS - Math.max(0, Math.floor((from - 1) / 2)));
          }
        }
      });
    }

    it(`are ${keyIndexed ? "" : "not "}read by their keys`, async () => {
      const { tables } = await service.catalogue.current();
      assertEquals(tables.get(table)?.keyIndexed, keyIndexed);
    });

    it("have the requested columns, in their order [Q56]", async () => {
      const sort = [{ field: "id", direction: "asc" }];
      const { text } = await ask({ select: ["label", "id"], sort, page: 1250, per_page: 1 });
      assertEquals(
        text.slice(text.indexOf('"records"')),
        '"records":[{"label":"row 1250","id":2501}]}',
      );
    });
  });
}

describe("Deep pages of a table from which others inherit", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table parents (tenant_id int4 not null, id int4 not null, label text,
        primary key (tenant_id, id));
      create table children () inherits (parents);
      insert into parents select 1, n, 'parent' from generate_series(1, ${ROWS}) n;
      insert into children select 1, n, 'child' from generate_series(1, ${ROWS}) n;
      grant select on parents, children to rowgate_app;
      notify rowgate_catalogue`);
  });
  after(() => service.close());

  it("hold the rows of both, whose keys are the same [Q70]", async () => {
    const body = { sort: [{ field: "id", direction: "asc" }], page: 6, per_page: 200 };
    const ask = () => service.send("POST", "/integration/tables/parents/query", { body });
    while ((await ask()).status !== 200) await new Promise((go) => setTimeout(go, 20));
    const records = (await ask()).body["records"] as { id: number; label: string }[];
    const found = records.map(({ id, label }) => `${id} ${label}`).toSorted();
    const ids = Array.from({ length: 100 }, (_, index) => 501 + index);
    assertEquals(found, ids.flatMap((id) => [`${id} child`, `${id} parent`]));
  });
});
