import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { readPages } from "../support/read_pages.ts";
import { IS_REMOTE } from "../support/service.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SCHEMA = `
create table "Straßen und Wege" ("Straßen-Nr" int8, tenant_id int4 not null, "Länge (m)" numeric,
  "name" text not null, "nicht da" text, primary key (tenant_id, "Straßen-Nr"));
insert into "Straßen und Wege" select n, t, n * 1.50, 'street ' || n || case t when 2 then ' CANARY' else '' end
from generate_series(1, 2) t, generate_series(1, 9) n;
create table twice (id int4 primary key, tenant_id int4 not null, "a b" text, b text);
grant select, update on "Straßen und Wege", twice to public;`;

const POLICY = {
  tables: {
    "Straßen und Wege": {
      name: "streets",
      columns: {
        "Straßen-Nr": { name: "no" },
        "Länge (m)": { name: "length" },
        name: { name: "label" },
      },
      read_only_columns: [],
    },
    twice: { columns: { "a b": { name: "b" } } },
  },
};

describeService("Tables and columns with names of the policy", (conversation) => {
  const { query, single, bulk, batch, get, run, service } = conversation;
  before(() => run(SCHEMA));

  it("are queried by these names: select, filters, sort and records [T70] [N2]", async () => {
    const response = await query("streets", {
      select: ["label", "length", "no"],
      filters: {
        and: [{ field: "length", op: "gt", value: 9 }, { field: "no", op: "neq", value: 8 }],
      },
      sort: [{ field: "label", direction: "desc" }],
    });
    assertEquals(recordsOf(response), [
      { label: "street 9", length: 13.5, no: 9 },
      { label: "street 7", length: 10.5, no: 7 },
    ]);
    const all = recordsOf(await query("streets", { per_page: 1 }));
    assertEquals(Object.keys(all[0]!), ["no", "tenant_id", "length", "label"]);
    const accept = { headers: { accept: "application/json;IEEE754Compatible=true" } };
    const [wide] = recordsOf(await query("streets", { sort: [{ field: "no" }] }, accept));
    assertEquals([wide!["no"], wide!["length"]], ["1", "1.50"]);
  });

  it("are looked up by key, and paged by page token, under these names [T70] [Q94]", async () => {
    const found = await Promise.all(
      [1, 2, 3, 4].map((value) =>
        query("streets", { filters: { and: [{ field: "no", op: "eq", value }] } })
      ),
    );
    assertEquals(found.map((response) => valuesOf(response, "no")), [[1], [2], [3], [4]]);
    for (const sort of [[], [{ field: "length", direction: "desc" }]]) {
      const body = { sort, per_page: 2 };
      const rows = await readPages(service().send, { table: "streets", body });
      assertEquals(rows.map(({ no }) => no).sort(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
  });

  it("are updated by these names in every operation [T70] [U20]", async () => {
    const filters = { no: 1 };
    assertOk(await single("streets", { filters, fields: { length: "7.25" } }));
    assertOk(await single("streets", { filters: { label: "street 2" }, fields: { length: 7.25 } }));
    const same = await bulk("streets", { filters: { length: 7.25 }, fields: { label: "same" } });
    assertEquals(assertOk(same)["updated"], 2);
    assertOk(await batch("streets", { updates: [{ filters, fields: { label: "one" } }] }));
    assertEquals(
      await run(`select "name" from "Straßen und Wege" where "Länge (m)" = 7.25 order by 1`),
      [{ name: "one" }, { name: "same" }],
    );
    const missing = { filters: { no: 99 }, fields: { label: "x" } };
    assertMatched(await single("streets", missing), 404, 0);
  });

  it("have these names in every message, and the names of the database are unknown [T70] [E21]", async () => {
    const no = { filters: { no: 1 } };
    assertRejectedAt(await single("streets", { ...no, fields: { label: null } }), "fields.label");
    assertRejectedAt(await single("streets", { ...no, fields: { no: 2 } }), "fields.no", "cannot");
    assertRejectedAt(await single("streets", { ...no, fields: { name: "x" } }), "fields.name");
    assertRejectedAt(await query("streets", { select: ["name"] }), "select[0]");
    const text = (await query("streets", { select: ["nicht_da"] })).text;
    assert(!text.includes("nicht da"), text);
    await run(`alter table "Straßen und Wege" add constraint labels check ("name" <> 'bad');
      create function blank_name() returns trigger language plpgsql as $$ begin
        if new."name" = 'blank' then new."name" := null; end if; return new; end $$;
      create trigger blank before update on "Straßen und Wege" for each row execute function blank_name()`);
    const blank = await single("streets", { ...no, fields: { label: "blank" } });
    assertRejectedAt(blank, "fields.label", "cannot be null");
  });

  it("are listed under these names, with their fields [T70] [T43] [T47]", async () => {
    const { body } = await get("/integration/tables");
    const streets = (body["tables"] as { name: string; primary_key: string[]; changes: boolean }[])
      .find(({ name }) => name === "streets");
    assertEquals([streets?.primary_key, streets?.changes], [["tenant_id", "no"], false]);
    const fields = await get("/integration/tables/streets/fields");
    const names = (assertOk(fields)["fields"] as { name: string }[]).map(({ name }) => name);
    assertEquals(names, ["no", "tenant_id", "length", "label"]);
    const { body: document } = await get("/openapi.json");
    assert(JSON.stringify(document).includes('"length"'));
  });

  it("are not exposed where two columns have one name, and the log says so [T71]", async () => {
    assertRejected(await query("twice"), 404);
    if (IS_REMOTE) return;
    const warnings = service().observations.flatMap((each) =>
      each.kind === "warning" ? [each.message] : []
    );
    const message =
      'policy: tables.twice.columns: two columns are called "b", so the table is not exposed';
    assert(warnings.includes(message), warnings.join("\n"));
  });

  it("are hidden if the policy gives them no valid name [T71] [N1]", async () => {
    const fields = await get("/integration/tables/oddities/fields");
    const names = (assertOk(fields)["fields"] as { name: string }[]).map(({ name }) => name);
    assertEquals(names, ["id", "tenant_id", "good"]);
  });
}, { policy: POLICY });
