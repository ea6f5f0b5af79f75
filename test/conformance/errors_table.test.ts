import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertMatched, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Errors, the table", ({ query, single, bulk }) => {
  const updates = [["update single", single], ["update bulk", bulk]] as const;

  for (const [name, update] of updates) {
    it(`400 in ${name} when filters is missing, saying that it is required [E26] [U17] [US5] [UB4]`, async () => {
      assertRejected(await update("deals", { fields: { note: "x" } }), 400, "filters is required");
    });

    it(`400 in ${name} when fields is missing, saying that it is required [E26] [U17] [US6]`, async () => {
      assertRejected(await update("deals", { filters: { fid: 1 } }), 400, "fields is required");
    });

    it(`400 in ${name} when both are missing, saying both [E26] [E7]`, async () => {
      assertRejected(await update("deals", {}), 400, "filters is required", "fields is required");
    });

    it(`400 in ${name} when a primary key column is in fields, naming it [E27]`, async () => {
      const response = await update("deals", { filters: { fid: 1 }, fields: { fid: 2 } });
      assertRejectedAt(response, "fields.fid", '"fid"', /primary key/i);
    });

    it(`400 in ${name} when a field name is invalid, naming it [E28]`, async () => {
      const response = await update("deals", { filters: { fid: 1 }, fields: { "no-te": "x" } });
      assertRejectedAt(response, 'fields["no-te"]', '"no-te"');
    });

    it(`403 in ${name} when the table is a credential table [T25]`, async () => {
      const response = await update("user_passwords", {
        filters: { id: 1 },
        fields: { login: "x" },
      });
      assertRejected(response, 403, "through the integration API");
    });

    it(`404 in ${name} when the table does not exist, without matched [E25]`, async () => {
      assertRejected(
        await update("dealz", { filters: { id: 1 }, fields: { a: 1 } }),
        404,
        "dealz",
        /not found/i,
      );
    });
  }

  it("400 in query when the table name does not match the pattern, naming path and name [E18]", async () => {
    assertRejectedAt(await query("my-deals"), "table", '"my-deals"');
  });

  it("400 in query when a column name does not match the pattern, naming path and name [E18] [E17]", async () => {
    const filters = { and: [{ or: [{ field: "fid; drop", op: "eq", value: 1 }] }] };
    assertRejectedAt(
      await query("deals", { filters }),
      "filters.and[0].or[0].field",
      '"fid; drop"',
    );
  });

  it("400 in query for an unsupported operator, naming path and operator [E19] [E17]", async () => {
    const filters = { and: [{ or: [{ field: "fid", op: "equals", value: 1 }] }] };
    assertRejectedAt(await query("deals", { filters }), "filters.and[0].or[0].op", '"equals"');
  });

  it("400 in query for a value of the wrong shape, naming the path [E20] [E17]", async () => {
    for (const value of [[1], [1, 2, 3], []]) {
      const filters = {
        or: [{ field: "fid", op: "eq", value: 1 }, { field: "fid", op: "between", value }],
      };
      assertRejectedAt(await query("deals", { filters }), "filters.or[1].value");
    }
  });

  it("400 in query for an unknown top-level key, naming it [E21]", async () => {
    assertRejectedAt(await query("deals", { fliters: {} }), "fliters", '"filters"');
  });

  it("400 in query for an object as a value, naming the path [E22] [Q35]", async () => {
    const filters = { and: [{ field: "fid", op: "eq", value: { $gt: 1 } }] };
    assertRejectedAt(await query("deals", { filters }), "filters.and[0].value");
  });

  it("403 in query for each credential table, with its text [E24] [T24]", async () => {
    for (
      const table of ["user_passwords", "sessions", "password_reset_codes", "impersonation_records"]
    ) {
      assertRejected(await query(table), 403, "not readable through the integration API");
    }
  });

  it("404 in query when the table does not exist, saying that it was not found [E25]", async () => {
    assertRejected(await query("dealz"), 404, "dealz", /not found/i);
  });

  it("404 in update single when no row matches, with matched 0 [E29]", async () => {
    assertMatched(
      await single("deals", { filters: { title: "none" }, fields: { note: "x" } }),
      404,
      0,
    );
  });

  it("409 in update single when several rows match, with their number, pointing to bulk [E30]", async () => {
    const response = await single("deals", { filters: { status: "won" }, fields: { note: "x" } });
    const error = assertMatched(response, 409, 15);
    assertEquals(/bulk/i.test(error), true, error);
  });
});
