import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertMatched, assertRefused, assertRefusedAt } from "./assert_answer.ts";
import { describeService } from "./describe_service.ts";

describeService("spec 7, the table of errors", ({ query, single, bulk }) => {
  const updates = [["update single", single], ["update bulk", bulk]] as const;

  for (const [name, update] of updates) {
    it(`400 in ${name} when filters is missing, saying that it is required [spec 7 update-missing] [D4.missing] [US5] [UB4]`, async () => {
      assertRefused(await update("deals", { fields: { note: "x" } }), 400, "filters is required");
    });

    it(`400 in ${name} when fields is missing, saying that it is required [spec 7 update-missing] [D4.missing] [US6]`, async () => {
      assertRefused(await update("deals", { filters: { fid: 1 } }), 400, "fields is required");
    });

    it(`400 in ${name} when both are missing, saying both [spec 7 update-missing] [D7.several]`, async () => {
      assertRefused(await update("deals", {}), 400, "filters is required", "fields is required");
    });

    it(`400 in ${name} when a primary key column is in fields, naming it [spec 7 update-key]`, async () => {
      const answer = await update("deals", { filters: { fid: 1 }, fields: { fid: 2 } });
      assertRefusedAt(answer, "fields.fid", '"fid"', /primary key/i);
    });

    it(`400 in ${name} when a field name is invalid, naming it [spec 7 bulk-field]`, async () => {
      const answer = await update("deals", { filters: { fid: 1 }, fields: { "no-te": "x" } });
      assertRefusedAt(answer, 'fields["no-te"]', '"no-te"');
    });

    it(`403 in ${name} when the table is a credential table [D2.credential-update]`, async () => {
      const answer = await update("user_passwords", { filters: { id: 1 }, fields: { login: "x" } });
      assertRefused(answer, 403, "through the integration API");
    });

    it(`404 in ${name} when the table does not exist, without matched [spec 7]`, async () => {
      assertRefused(
        await update("dealz", { filters: { id: 1 }, fields: { a: 1 } }),
        404,
        "dealz",
        /not found/i,
      );
    });
  }

  it("400 in query when the table name does not match the pattern, naming path and name [spec 7 query-name]", async () => {
    assertRefusedAt(await query("my-deals"), "table", '"my-deals"');
  });

  it("400 in query when a column name does not match the pattern, naming path and name [spec 7 query-name] [spec 7 query-path]", async () => {
    const filters = { and: [{ or: [{ field: "fid; drop", op: "eq", value: 1 }] }] };
    assertRefusedAt(await query("deals", { filters }), "filters.and[0].or[0].field", '"fid; drop"');
  });

  it("400 in query for an unsupported operator, naming path and operator [spec 7 query-operator] [spec 7 query-path]", async () => {
    const filters = { and: [{ or: [{ field: "fid", op: "equals", value: 1 }] }] };
    assertRefusedAt(await query("deals", { filters }), "filters.and[0].or[0].op", '"equals"');
  });

  it("400 in query for a value of the wrong shape, naming the path [spec 7 query-shape] [spec 7 query-path]", async () => {
    for (const value of [[1], [1, 2, 3], []]) {
      const filters = {
        or: [{ field: "fid", op: "eq", value: 1 }, { field: "fid", op: "between", value }],
      };
      assertRefusedAt(await query("deals", { filters }), "filters.or[1].value");
    }
  });

  it("400 in query for an unknown top-level key, naming it [spec 7 query-unknown-key]", async () => {
    assertRefusedAt(await query("deals", { fliters: {} }), "fliters", '"filters"');
  });

  it("400 in query for an object as a value, naming the path [spec 7 query-object-value] [spec 2 no-object]", async () => {
    const filters = { and: [{ field: "fid", op: "eq", value: { $gt: 1 } }] };
    assertRefusedAt(await query("deals", { filters }), "filters.and[0].value");
  });

  it("403 in query for each credential table, with the text of spec 7 [spec 7 query-403] [spec 2 credential-unreadable]", async () => {
    for (
      const table of ["user_passwords", "sessions", "password_reset_codes", "impersonation_records"]
    ) {
      assertRefused(await query(table), 403, "not readable through the integration API");
    }
  });

  it("404 in query when the table does not exist, saying that it was not found [spec 7 query-404]", async () => {
    assertRefused(await query("dealz"), 404, "dealz", /not found/i);
  });

  it("404 in update single when no row matches, with matched 0 [spec 7 single-404]", async () => {
    assertMatched(
      await single("deals", { filters: { title: "none" }, fields: { note: "x" } }),
      404,
      0,
    );
  });

  it("409 in update single when several rows match, with their number, pointing to bulk [spec 7 single-409]", async () => {
    const answer = await single("deals", { filters: { status: "won" }, fields: { note: "x" } });
    const error = assertMatched(answer, 409, 15);
    assertEquals(/bulk/i.test(error), true, error);
  });
});
