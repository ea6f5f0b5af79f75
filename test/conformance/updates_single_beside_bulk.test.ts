import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertMatched, assertOk } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Updates, single beside bulk", ({ single, bulk, run }) => {
  it("responds with 404 in single and 200 with updated 0 in bulk when 0 rows match [U38]", async () => {
    const body = { filters: { product: "no such product" }, fields: { quantity: 3 } };
    assertMatched(await single("order_lines", body), 404, 0);
    assertEquals(assertOk(await bulk("order_lines", body))["updated"], 0);
  });

  it("updates the row in both when 1 row matches, with matched in single only [U39] [U41]", async () => {
    const filters = { order_no: 2, line_no: 3 };
    const one = assertOk(await single("order_lines", { filters, fields: { quantity: 77 } }));
    assertEquals([one["matched"], one["updated"]], [1, 1]);
    assertEquals((await run("select 1 from order_lines where quantity = 77")).length, 1);
    const many = assertOk(await bulk("order_lines", { filters, fields: { quantity: 78 } }));
    assertEquals(many["updated"], 1);
    assert(!("matched" in many));
    assertEquals((await run("select 1 from order_lines where quantity = 78")).length, 1);
  });

  it("updates nothing in single and all N in bulk when N rows match [U40]", async () => {
    const body = { filters: { order_no: 5 }, fields: { quantity: 79 } };
    assertMatched(await single("order_lines", body), 409, 4);
    assertEquals((await run("select 1 from order_lines where quantity = 79")).length, 0);
    assertEquals(assertOk(await bulk("order_lines", body))["updated"], 4);
    assertEquals((await run("select 1 from order_lines where quantity = 79")).length, 4);
  });
}, { writes: "rows" });
