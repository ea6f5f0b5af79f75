import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readPages } from "../../support/read_pages.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const available = await isAvailable();
if (!available) {
  console.log("citext, ltree and hstore are not installed: nothing is tested on them");
} else {
  describe("Types of extensions in a schema of their own", () => {
    let service: TestService;

    before(async () => {
      service = await createTestService("real", { template: "empty", policy: { tables: {} } });
      await service.database.admin.unsafe(`create schema extensions;
        grant usage on schema extensions to public;
        create extension citext schema extensions;
        create extension ltree schema extensions;
        create extension hstore schema extensions;
        create extension intarray schema public;
        create table people (id int4 primary key, tenant_id int4 not null,
          email extensions.citext not null, path extensions.ltree, tags extensions.hstore,
          numbers int4[]);
        insert into people select n, 1, case when n % 2 = 0 then 'A' else 'a' end || n / 4,
          ('top.n' || n % 3)::extensions.ltree, 'a=>1', array[n, n % 3]
          from generate_series(1, 40) n;
        create index on people (email, id);
        grant select, update on people to rowgate_app`);
      const body = { per_page: 1 };
      await waitUntil(async () =>
        (await service.send("POST", "/integration/tables/people/query", { body })).status === 200
      );
    });
    after(() => service.close());

    async function find(field: string, op: string, value: unknown): Promise<unknown> {
      const body = { filters: { and: [{ field, op, value }] }, sort: [{ field: "id" }] };
      const { status, text } = await service.send("POST", "/integration/tables/people/query", {
        body,
      });
      assertEquals(status, 200, text);
      return JSON.parse(text).records.map(({ id }: { id: number }) => id);
    }

    it("compares citext without case, with every operator [TE25] [T50]", async () => {
      assertEquals(await find("email", "eq", "a1"), [4, 5, 6, 7]);
      assertEquals(await find("email", "in", ["A1"]), [4, 5, 6, 7]);
      assertEquals(await find("email", "between", ["A1", "a1"]), [4, 5, 6, 7]);
      assertEquals(await find("email", "lt", "A1"), [1, 2, 3]);
      assertEquals(((await find("email", "neq", "a1")) as unknown[]).length, 36);
      assertEquals(((await find("email", "not_in", ["a1"])) as unknown[]).length, 36);
      const body = { filters: { email: "A1", id: 5 }, fields: { numbers: [5] } };
      const path = "/integration/tables/people/records/single";
      const { text } = await service.send("PATCH", path, { body });
      assertEquals(JSON.parse(text).updated, 1, text);
    });

    it("gives each row once, page by page, in the order of the type [TE25] [Q94]", async () => {
      const { send, database, tokens } = service;
      for (
        const sort of [
          [{ field: "email" }],
          [{ field: "email", direction: "desc" }, { field: "id", direction: "desc" }],
          [{ field: "path", direction: "desc" }, { field: "email" }],
        ]
      ) {
        const order = sort.map(({ field, direction = "" }) => `${field} ${direction}`).join(", ");
        const rows = await readPages(send, {
          table: "people",
          body: { sort, per_page: 7 },
          token: tokens.a,
        });
        const expected = await database.admin.unsafe(
          `select id from people order by ${order}${order.includes("id") ? "" : ", id"}`,
        );
        assertEquals(rows.map(({ id }) => id), expected.map(({ id }) => id), order);
      }
    });

    it("compares ltree and hstore by their own equality, and arrays by that of Postgres [TE25] [T50]", async () => {
      assertEquals(((await find("path", "eq", "top.n1")) as unknown[]).length, 14);
      assertEquals(((await find("tags", "eq", '"a"=>"1"')) as unknown[]).length, 40);
      assertEquals(await find("numbers", "contains", [40, 1]), [40]);
    });
  });
}

async function isAvailable(): Promise<boolean> {
  const { createTestDatabase } = await import("../../support/database.ts");
  const database = await createTestDatabase("real", "empty");
  try {
    const [row] = await database.admin`select count(*)::int4 as found
      from pg_available_extensions where name in ('citext', 'ltree', 'hstore', 'intarray')`;
    return row!.found === 4;
  } finally {
    await database.drop();
  }
}
