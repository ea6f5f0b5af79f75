import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, recordsOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SELECT = ["c_interval", "c_float8", "c_bytea", "c_money", "c_timestamptz", "c_date"];

/** The settings of a session behind a pooler, which pins none of them. */
const ODD_DEFAULTS = {
  intervalstyle: "postgres_verbose",
  extra_float_digits: "-3",
  bytea_output: "escape",
};

describeService("Running, behind a pooler", ({ kind, query, single, bulk, batch, run }) => {
  if (kind === "embedded") {
    return void it("needs none when embedded", async () => void assertOk(await query("deals")));
  }

  it("relies on no setting of the session: values look as they always do [R6] [V20]", async () => {
    const [row] = await run("select current_database() as name");
    for (const [name, value] of Object.entries(ODD_DEFAULTS)) {
      await run(`alter database "${row!["name"]}" set ${name} = '${value}'`);
    }
    const filters = { and: [{ field: "id", op: "in", value: [1, 3, 4, 5] }] };
    const body = { filters, select: SELECT, sort: [{ field: "id" }] };
    const records = recordsOf(await query("everything", body));
    assertEquals(records.map((record) => record["c_interval"]).slice(1), [
      "P178000000Y",
      "P-178000000Y",
      "PT0.000001S",
    ]);
    assertEquals(records[2]!["c_float8"], 5e-324);
    assertEquals(String(records[0]!["c_bytea"]).startsWith("\\x"), true);
    const like = { and: [{ field: "c_interval", op: "like", value: "PT0%" }] };
    assertEquals(recordsOf(await query("everything", { filters: like })).length > 0, true);
  });

  it("updates without prepared statements, in a transaction as well [R6]", async () => {
    const body = { filters: { fid: 1 }, fields: { note: "pooled" } };
    assertEquals(assertOk(await single("deals", body))["updated"], 1);
    assertEquals(assertOk(await bulk("deals", body))["updated"], 0);
    const headers = { prefer: "tx=rollback" };
    const undone = { filters: { fid: 1 }, fields: { note: "undone" } };
    assertEquals(assertOk(await single("deals", undone, { headers }))["updated"], 1);
    assertEquals(await run("select note from deals where fid = 1"), [{ note: "pooled" }]);
  });

  it("keeps the answers of updates with a key, in a transaction as well [R6] [IK15]", async () => {
    const updates = [{ filters: { fid: 2 }, fields: { note: "batch" } }];
    for (
      const send of [
        (options: object) => single("deals", updates[0], { ...options }),
        (options: object) => bulk("deals", updates[0], { ...options }),
        (options: object) => batch("deals", { updates }, { ...options }),
      ]
    ) {
      const options = { headers: { "idempotency-key": `"${crypto.randomUUID()}"` } };
      const first = await send(options);
      const again = await send(options);
      assertOk(first);
      assertEquals([again.text, again.headers.get("idempotent-replayed")], [first.text, "true"]);
    }
  });
}, { environment: { ROWGATE_PREPARE: "off" } });
