import { assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const ROLLBACK = { headers: { prefer: "tx=rollback" } };

describeService("Running, an audit that cannot be written", ({ kind, single, bulk, run }) => {
  const obstacles = {
    "the table is gone": [
      "alter table rowgate.audit rename to away",
      "alter table rowgate.away rename to audit",
    ],
    "a constraint of the operator's rejects the row": [
      "alter table rowgate.audit add constraint none check (tenant = '') not valid",
      "alter table rowgate.audit drop constraint none",
    ],
    "the operator's partition is missing": [
      `alter table rowgate.audit rename to away;
        create table rowgate.audit (like rowgate.away including defaults) partition by range (at);
        alter table rowgate.audit alter number set default 0;
        grant insert on rowgate.audit to rowgate_app`,
      "create table rowgate.audit_rest partition of rowgate.audit default",
    ],
    ...(kind === "embedded" ? {} : {
      "the role may not": [
        "revoke insert on rowgate.audit from rowgate_app",
        "grant insert on rowgate.audit to rowgate_app",
      ],
      "the role may not use the schema's table at all": [
        "revoke all on rowgate.audit from rowgate_app",
        "grant insert on rowgate.audit to rowgate_app",
      ],
    }),
  };
  for (const [what, [obstruct = "", clear = ""]] of Object.entries(obstacles)) {
    it(`rejects every update with a message: ${what} [R23]`, async () => {
      await run(obstruct);
      const body = { filters: { id: 1 }, fields: { name: what } };
      for (const update of [single, bulk]) {
        for (const options of [{}, ROLLBACK]) {
          const response = await update("guests", body, options);
          const error = assertRejected(
            response,
            503,
            "The audit of the change could not be written",
          );
          assertStringIncludes(error, "nothing was changed");
          assertEquals(response.headers.get("retry-after"), "1");
        }
      }
      const isThere = `select 1 from guests where name = '${what.replaceAll("'", "''")}'`;
      assertEquals((await run(isThere)).length, 0);
      await run(clear);
      assertEquals(assertOk(await single("guests", body))["updated"], 1);
      assertEquals((await run(isThere)).length, 1);
      assertEquals((await run("select 1 from rowgate.audit")).length, 1);
      await run("truncate rowgate.audit");
    });
  }
}, { environment: { ROWGATE_AUDIT: "on" } });
