import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { readPages } from "../support/read_pages.ts";
import { assertMatched, assertOk, assertRejected, recordsOf, valuesOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** A tenant is a branch of a firm: `7/2`, and `7/3` is another one. */
const SCHEMA = `
create table badges (firm int4, branch text, no int4, holder text not null,
  primary key (firm, branch, no));
create table gates (id int4 primary key, firm int4 not null, branch text not null, no int4 not null,
  name text, foreign key (firm, branch, no) references badges);
insert into badges select f, b, n, 'holder ' || f || b || n
from unnest(array[7, 8]) f, unnest(array['2', '3', 'x']) b, generate_series(1, 6) n;
insert into gates select row_number() over (), firm, branch, no, 'gate of ' || holder from badges;
grant select, update on badges, gates to public`;

const tenant_columns = ["firm", "branch"];
const POLICY = {
  tables: {
    badges: { tenant_columns },
    gates: { tenant_via: { columns: ["firm", "branch", "no"], table: "badges" } },
    nowhere: { tenant_columns: ["firm", "missing"] },
  },
};

describeService("Tables whose tenant is in several columns", (conversation) => {
  const { query, single, bulk, batch, get, run, service } = conversation;
  const tokens = new Map<string, string>();
  const as = (tenant: string) => ({ token: tokens.get(tenant)! });
  before(async () => {
    await run(SCHEMA);
    for (const tenant of ["7/2", "7/3", "8/2", "7/x", "7", "7/2/1", "7/", "/2", "x/2"]) {
      tokens.set(tenant, await service().issue({ tenant }));
    }
  });

  for (const table of ["badges", "gates"]) {
    it(`confine ${table} to rows with both parts, in every operation [T72] [S8]`, async () => {
      for (const tenant of ["7/2", "7/3", "8/2", "7/x"]) {
        const [firm, branch] = tenant.split("/");
        const response = await query(table, {}, as(tenant));
        assertEquals(response.body["total"], 6);
        for (const record of recordsOf(response)) {
          assertEquals([record["firm"], record["branch"]], [Number(firm), branch]);
        }
        const body = { sort: [{ field: "no", direction: "desc" }], per_page: 4 };
        const token = tokens.get(tenant)!;
        const rows = await readPages(service().send, { table, body, token });
        assertEquals(rows.map(({ no }) => no), [6, 5, 4, 3, 2, 1]);
      }
    });
  }

  it("are updated and looked up by the rest of the key [T72] [U20]", async () => {
    const filters = { and: [{ field: "no", op: "eq", value: 2 }] };
    const found = await Promise.all(
      ["7/2", "7/3", "8/2", "7/2", "7/x"].map((tenant) => query("badges", { filters }, as(tenant))),
    );
    assertEquals(
      found.map((response) => valuesOf(response, "holder")[0]),
      ["holder 722", "holder 732", "holder 822", "holder 722", "holder 7x2"],
    );
    for (const filters of [{ no: 1 }, { holder: "holder 723" }]) {
      const response = await single("badges", { filters, fields: { holder: "new" } }, as("7/2"));
      assertEquals(assertOk(response)["matched"], 1);
    }
    const updates = [{ filters: { no: 4 }, fields: { holder: "new" } }];
    assertOk(await batch("badges", { updates }, as("7/2")));
    assertEquals(
      await run("select firm, branch, no from badges where holder = 'new' order by no"),
      [1, 3, 4].map((no) => ({ firm: 7, branch: "2", no })),
    );
    const foreign = { filters: { branch: "3" }, fields: { holder: "taken" } };
    assertEquals(assertOk(await bulk("badges", foreign, as("7/2")))["updated"], 0);
    assertMatched(await single("badges", foreign, as("7/2")), 404, 0);
  });

  it("never let a row move to another tenant, by a column or over its path [T72] [T33] [T61]", async () => {
    const body = { filters: { no: 5 }, fields: { branch: "3" } };
    assertRejected(await single("badges", body, as("7/2")), 400, /cannot be set/);
    assertRejected(await single("gates", body, as("7/2")), 409);
    assertRejected(await bulk("gates", body, as("7/2")), 409);
    assertOk(await single("gates", { filters: { no: 5 }, fields: { no: 6 } }, as("7/2")));
  });

  it("do not exist for a tenant with more or fewer parts, or one that does not fit [T72] [O8]", async () => {
    for (const tenant of ["7", "7/2/1", "7/", "/2", "x/2"]) {
      for (const table of ["badges", "gates", "nowhere"]) {
        assertRejected(await query(table, {}, as(tenant)), 404);
      }
      const { body } = await get("/integration/tables", as(tenant));
      const names = (body["tables"] as { name: string }[]).map(({ name }) => name);
      assert(!names.includes("badges"), tenant);
    }
  });
}, { policy: POLICY });

/** The setting that row level security reads holds the whole tenant. */
describeService("Composite tenants with row level security", (conversation) => {
  const { query, single, run, service } = conversation;
  before(() =>
    run(`create table safes (firm int4, branch text, no int4, content text not null,
        primary key (firm, branch, no));
      insert into safes select f, b, n, 'gold' from unnest(array[7, 8]) f, unnest(array['2', '3']) b,
        generate_series(1, 3) n;
      alter table safes enable row level security;
      create policy site on safes
        using (firm || '/' || branch = nullif(current_setting('app.tenant_id', true), ''));
      create view settings as select *, current_setting('app.tenant_id', true) as setting from safes;
      grant select, update on safes, settings to public`)
  );

  it("read `7/2` from the setting, in queries and updates [T72] [R22]", async () => {
    for (const tenant of ["7/2", "8/3"]) {
      const as = { token: await service().issue({ tenant }) };
      assertEquals(assertOk(await query("safes", {}, as))["total"], 3);
      const settings = valuesOf(await query("settings", {}, as), "setting");
      assertEquals(settings, [tenant, tenant, tenant]);
      for (const filters of [{ no: 1 }, { content: "gold", no: 2 }]) {
        const body = { filters, fields: { content: "none" } };
        assertEquals(assertOk(await single("safes", body, as))["updated"], 1);
      }
    }
    assertEquals(
      await run("select firm, branch from safes where content = 'none' order by firm, no"),
      [[7, "2"], [7, "2"], [8, "3"], [8, "3"]].map(([firm, branch]) => ({ firm, branch })),
    );
  });
}, {
  policy: {
    tables: {
      safes: { tenant_columns },
      settings: { tenant_columns, expose: true, primary_key: ["firm", "branch", "no"] },
    },
  },
  environment: { ROWGATE_TENANT_SETTING: "app.tenant_id" },
});
