import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import type { ReceivedResponse } from "../support/service.ts";
import { assertOk, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** Repeats a request while it is rejected; the catalogue is read again at most once a second. */
async function soon(send: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  let response = await send();
  for (let attempt = 0; attempt < 30 && response.status !== 200; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    response = await send();
  }
  return response;
}

/** Table, type, value, change of the type, and a value that only the new type takes. */
const CHANGES: readonly (readonly [string, string, string, string, string])[] = [
  ["wider", "int4", "5", "alter table r_wider alter column a type int8", "9007199254740993"],
  [
    "longer",
    "varchar(3)",
    "abc",
    "alter table r_longer alter column a type varchar(10)",
    "abcdef",
  ],
  [
    "precise",
    "numeric(4, 2)",
    "1.25",
    "alter table r_precise alter column a type numeric(12, 2)",
    "12345.25",
  ],
  ["texted", "deal_stage", "won", "alter table r_texted alter column a type text", "anything"],
  ["labelled", "deal_stage", "won", "alter type deal_stage add value 'archived'", "archived"],
  ["freed", "int4", "5", "alter table r_freed alter column a type text", "five"],
];

/** Table, type of its column, and value. */
const TABLES: readonly (readonly [string, string, string])[] = [
  ...CHANGES.map(([name, type, value]) => [name, type, value] as const),
  ["shorter", "varchar(3)", "ab"],
  ["narrower", "int8", "5"],
  ["needed", "text", "x"],
  ["nullable", "text not null", "x"],
];

/** Returns the SQL that makes a table with one column of a type, and a row of each tenant. */
function createTable(name: string, type: string, value: string): string {
  return `create table ${name} (id int4 primary key, tenant_id int4 not null, a ${type});
    insert into ${name} values (1, 1, '${value}'), (2, 2, '${value}');
    grant select, update (a) on ${name} to rowgate_app`;
}

describeService(
  "Tables, columns that take other values than before",
  ({ query, single, bulk, run }) => {
    // Made at once: an unknown name has the catalogue read again at most once a second.
    before(async () => {
      await run(
        TABLES.map(([name, type, value]) => createTable(`r_${name}`, type, value)).join(";"),
      );
      for (const [name] of TABLES) assertOk(await soon(() => query(`r_${name}`)));
    });

    /** Asks a table often enough that its statements are prepared. */
    async function prepare(table: string, value: string): Promise<void> {
      for (let time = 0; time < 6; time++) {
        assertOk(await query(table, { filters: { and: [{ field: "a", op: "eq", value }] } }));
        assertOk(await single(table, { filters: { id: 1 }, fields: { a: value } }));
      }
    }

    for (const [name, , value, change, next] of CHANGES) {
      it(`accepts a value that only the new type of the column allows: ${change} [T42]`, async () => {
        const table = `r_${name}`;
        await prepare(table, value);
        await run(change);
        const filters = { or: [{ field: "a", op: "eq", value: next }] };
        assertEquals(recordsOf(await soon(() => query(table, { filters }))), []);
        assertOk(await soon(() => single(table, { filters: { id: 1 }, fields: { a: next } })));
        assertEquals(
          assertOk(await bulk(table, { filters: { a: next }, fields: { a: value } }))["updated"],
          1,
        );
      });
    }

    it("names the path of a value that the column no longer accepts [T42] [E33]", async () => {
      await prepare("r_shorter", "ab");
      await run("alter table r_shorter alter column a type varchar(2)");
      assertRejectedAt(
        await single("r_shorter", { filters: { id: 1 }, fields: { a: "xyz" } }),
        "fields.a",
      );
      await prepare("r_narrower", "5");
      await run("alter table r_narrower alter column a type int2");
      assertRejectedAt(
        await bulk("r_narrower", { filters: { id: 1 }, fields: { a: 70000 } }),
        "fields.a",
      );
      await prepare("r_needed", "x");
      await run("alter table r_needed alter column a set not null");
      assertRejectedAt(
        await single("r_needed", { filters: { id: 1 }, fields: { a: null } }),
        "fields.a",
      );
    });

    it("accepts null for a column that is no longer NOT NULL [T42]", async () => {
      await prepare("r_nullable", "x");
      await run("alter table r_nullable alter column a drop not null");
      assertOk(await soon(() => single("r_nullable", { filters: { id: 1 }, fields: { a: null } })));
    });
  },
);
