import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Updates, what counts as updated", ({ single, bulk, run }) => {
  it("does not write a row that already holds the values: no trigger, same modification time [U43] [US2] [UB3]", async () => {
    const look = () =>
      run("select ctid::text, xmin::text, modified_at::text from deals where fid = 30");
    assertOk(await single("deals", { filters: { fid: 30 }, fields: { note: "first" } }));
    const before = await look();
    for (const update of [single, bulk]) {
      assertEquals(
        assertOk(
          await update("deals", { filters: { fid: 30 }, fields: { note: "first" } }),
        )["updated"],
        0,
      );
      assertEquals(await look(), before);
    }
  });

  it("fires no trigger for an unchanged row, and does for a changed one [U43]", async () => {
    const touched = async () =>
      (await run("select touched from frozen where id = 6"))[0]?.["touched"];
    assertOk(await single("frozen", { filters: { id: 6 }, fields: { name: "name 6" } }));
    assertEquals(await touched(), 0);
    assertOk(await single("frozen", { filters: { id: 6 }, fields: { name: "other" } }));
    assertEquals(await touched(), 1);
    assertEquals(
      assertOk(
        await bulk("frozen", { filters: { mode: "touch" }, fields: { name: "other" } }),
      )["updated"],
      0,
    );
    assertEquals(await touched(), 1);
  });

  it("counts changes that = ignores: json, box, interval, zone of a time, trailing zeros [US17]", async () => {
    const changes: readonly [string, string, string][] = [
      ["c_json", '{"a": 1}', '{"a":1}'],
      ["c_point", "(1,2)", "(1,3)"],
      ["c_box", "(1,1),(0,0)", "(2,1),(1,0)"],
      ["c_interval", "P1M", "P30D"],
      ["c_numeric", "1.5", "1.50"],
      ["c_circle", "<(0,0),1>", "<(5,5),1>"],
      ["c_path", "[(0,0),(1,1),(2,0)]", "[(0,0),(1,1),(9,9)]"],
      ["c_float8", "0", "-0"],
    ];
    for (const [field, first, second] of changes) {
      await run(`update everything set ${field} = '${first}' where id = 12`);
      const value = field === "c_json" ? JSON.parse(second) : second;
      const fields = { [field]: value };
      const body = assertOk(await single("everything", { filters: { id: 12 }, fields }));
      assertEquals(body["updated"], 1, field);
    }
  });

  it("counts in bulk the changed rows among the matching ones [U42]", async () => {
    await run("update order_lines set product = 'same' where tenant_id = 1 and order_no <= 3");
    const body = assertOk(
      await bulk("order_lines", { filters: { tenant_id: 1 }, fields: { product: "same" } }),
    );
    assertEquals(body["updated"], 28);
  });

  it("responds with 409 without matched when a trigger silently rejects the change of single [E36] [US15]", async () => {
    const response = await single("frozen", { filters: { id: 1 }, fields: { name: "thawed" } });
    assertRejected(response, 409, /the database refused the change/i);
    assertEquals(await run("select name from frozen where id = 1"), [{ name: "name 1" }]);
  });

  it("responds with matched 1 and updated 0 when the rejected row would not have changed anyway [U29]", async () => {
    const body = assertOk(
      await single("frozen", { filters: { id: 1 }, fields: { name: "name 1" } }),
    );
    assertEquals([body["matched"], body["updated"]], [1, 0]);
  });

  it("leaves the silently rejected rows out of the count of bulk [U42]", async () => {
    assertEquals(
      assertOk(
        await bulk("frozen", { filters: { mode: "silent" }, fields: { name: "x" } }),
      )["updated"],
      0,
    );
    assertEquals(
      assertOk(
        await bulk("frozen", { filters: { mode: "free" }, fields: { name: "x" } }),
      )["updated"],
      2,
    );
  });

  it("does not say updated 1 when a trigger has put the old value back [U42]", async () => {
    const response = await single("frozen", { filters: { id: 5 }, fields: { name: "thawed" } });
    if (response.status === 409) assertRejected(response, 409, /the database refused the change/i);
    else assertEquals([response.status, response.body["matched"]], [200, 1], response.text);
    assertEquals(await run("select name from frozen where id = 5"), [{ name: "name 5" }]);
  });

  it("recomputes generated columns of a changed row", async () => {
    assertOk(await single("invoices", { filters: { id: 3 }, fields: { net: 100, rate: 0.5 } }));
    assertEquals(await run("select gross::text from invoices where id = 3"), [{ gross: "150.00" }]);
  });
}, { writes: "rows" });
