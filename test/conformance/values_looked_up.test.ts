import { assert, assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejected, recordsOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const TYPES = [
  "regclass",
  "regtype",
  "regproc",
  "regprocedure",
  "regoper",
  "regoperator",
  "regrole",
  "regnamespace",
  "regconfig",
  "regdictionary",
  "regcollation",
  "aclitem",
  "regclass[]",
  "named_table",
];
/** One that names what is there but hidden, one what is nowhere, one a number that names something. */
const VALUES = ["user_passwords", "no_such_thing", "postgres", "1259", "internal_settings"];

describeService("Values, types that name objects of the database", (ask) => {
  const { query, single, bulk, get, run } = ask;
  before(async () => {
    await run("create domain named_table as regclass");
    const columns = TYPES.map((type, at) => `c${at} ${type}`).join(", ");
    await run(
      `create table looked_up (id int4 primary key, tenant_id int4 not null, note text, ${columns});
      insert into looked_up (id, tenant_id, note) values (1, 1, 'a'), (1001, 2, 'b')`,
    );
    await run("update looked_up set c0 = 'deals'::regclass where id = 1");
    if (ask.kind === "real") {
      await run("grant select, update on looked_up to rowgate_app");
    }
    await waitUntil(async () => (await query("looked_up")).status === 200);
  });

  for (const [at, type] of TYPES.entries()) {
    it(`rejects every value for ${type}, so that none reveals which objects exist [V1] [Q54] [T54]`, async () => {
      const field = `c${at}`;
      const texts = new Set<string>();
      for (const value of VALUES) {
        const responses = [
          await query("looked_up", { filters: { and: [{ field, op: "eq", value }] } }),
          await query("looked_up", { filters: { and: [{ field, op: "in", value: [value] }] } }),
          await query("looked_up", { filters: { and: [{ field, op: "gt", value }] } }),
          await single("looked_up", { filters: { [field]: value }, fields: { note: "x" } }),
          await single("looked_up", { filters: { id: 1 }, fields: { [field]: value } }),
          await bulk("looked_up", { filters: { id: 1 }, fields: { [field]: value } }),
        ];
        for (const response of responses) assertRejected(response, 400);
        texts.add(JSON.stringify(responses.map(({ text }) => text.replaceAll(value, "?"))));
      }
      assertEquals(texts.size, 1);
      const isNull = { filters: { and: [{ field, op: "is_null" }] } };
      assertEquals(recordsOf(await query("looked_up", isNull)).length, at === 0 ? 0 : 1);
    });
  }

  it("shows the value of a row, and lists the column as not writable [Q54]", async () => {
    const [record] = recordsOf(await query("looked_up"));
    assertEquals(record!["c0"], "deals");
    const described = assertOk(await get("/integration/tables/looked_up/fields"));
    const fields = described["fields"] as {
      name: string;
      writable: boolean;
      operators: string[];
    }[];
    for (const { name, writable, operators } of fields.filter(({ name }) => /^c\d/.test(name))) {
      assert(!writable, name);
      assertEquals(operators, ["like", "not_like", "is_null", "is_not_null"]);
    }
  });
});
