import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Update Bulk Records", ({ bulk, run, service }) => {
  const theirs = () => checksumTenant(service().database.admin, 2);
  const mine = () => checksumTenant(service().database.admin, 1);

  it("changes every row that matches and responds with nothing but its members [U32] [U35] [U36] [U37] [U34] [S3] [UB2]", async () => {
    const others = await theirs();
    const response = await bulk("deals", { filters: { status: "won" }, fields: { note: "bulk" } });
    assertEquals(assertOk(response), { success: true, table: "deals", updated: 15 });
    const stored = await run(
      "select external_no % 4 as rest, tenant_id from deals where note = 'bulk'",
    );
    assertEquals(stored.length, 15);
    for (const row of stored) assertEquals([row["rest"], row["tenant_id"]], [1, 1]);
    assertEquals(await theirs(), others);
  });

  it("responds with 200 and updated 0 and no matched when nothing matches [U33] [UB1]", async () => {
    const before = await mine();
    const response = await bulk("deals", { filters: { fid: 999999 }, fields: { note: "x" } });
    assertEquals(assertOk(response), { success: true, table: "deals", updated: 0 });
    assertEquals(await mine(), before);
  });

  it("counts only the rows that changed [U37] [U42] [UB3]", async () => {
    await run("update deals set note = 'same' where tenant_id = 1 and external_no in (2, 6, 10)");
    const body = assertOk(
      await bulk("deals", { filters: { status: "lost" }, fields: { note: "same" } }),
    );
    assertEquals(body["updated"], 12);
    const again = assertOk(
      await bulk("deals", { filters: { status: "lost" }, fields: { note: "same" } }),
    );
    assertEquals(again["updated"], 0);
  });

  it("moves every row once when a filter column is also a field [UB11]", async () => {
    const body = assertOk(
      await bulk("order_lines", { filters: { quantity: 1 }, fields: { quantity: 5 } }),
    );
    const left = await run("select 1 from order_lines where tenant_id = 1 and quantity = 1");
    assertEquals(left.length, 0);
    assertEquals(typeof body["updated"], "number");
  });

  it("combines the filters with AND [U2] [U1]", async () => {
    const body = assertOk(
      await bulk("order_lines", {
        filters: { order_no: 3, line_no: 2 },
        fields: { product: "One" },
      }),
    );
    assertEquals(body["updated"], 1);
    assertEquals((await run("select 1 from order_lines where product = 'One'")).length, 1);
  });

  it("has no limit to the number of rows [L10] [S3]", async () => {
    const body = assertOk(
      await bulk("measurements", { filters: { tenant_id: 1 }, fields: { sensor: "all" } }),
    );
    assertEquals(body["updated"], 260);
    assertEquals(
      (await run("select 1 from measurements where sensor = 'all' and tenant_id = 1")).length,
      260,
    );
    assertEquals(
      (await run("select 1 from measurements where sensor = 'all' and tenant_id = 2")).length,
      0,
    );
  });

  it("changes all rows or none [UB7]", async () => {
    const before = await mine();
    const response = await bulk("order_lines", {
      filters: { order_no: 4 },
      fields: { quantity: 0 },
    });
    assertRejected(response, 400, "order_lines_quantity_check", /^fields/);
    assertEquals(await mine(), before);
  });

  it("rejects an invalid field name, naming it [E28] [UB6]", async () => {
    const before = await mine();
    for (const name of ["bad-name", "naïve", "", "titel", "constructor", "__proto__"]) {
      const response = await bulk("deals", { filters: { fid: 1 }, fields: { [name]: "x" } });
      assertRejectedAt(
        response,
        /^\w+$/.test(name) ? `fields.${name}` : `fields[${JSON.stringify(name)}]`,
      );
    }
    assertEquals(await mine(), before);
  });

  it("never drops a filter that it does not know [IN13] [IN14]", async () => {
    const before = await mine();
    for (const name of ["bad-name", "titel", "constructor", "__proto__", "prototype", ""]) {
      const filters = { status: "open", [name]: "x" };
      const response = await bulk("deals", { filters, fields: { note: "x" } });
      assertRejectedAt(
        response,
        /^\w+$/.test(name) ? `filters.${name}` : `filters[${JSON.stringify(name)}]`,
      );
    }
    assertEquals(await mine(), before);
  });

  it("rejects a primary key column in fields [U11] [T31] [E27]", async () => {
    const response = await bulk("deals", { filters: { status: "open" }, fields: { fid: 1 } });
    assertRejectedAt(response, "fields.fid", /primary key/i);
  });

  it("rejects a filter value that is no scalar [U1] [Q35]", async () => {
    for (const value of [{ gt: 1 }, [1, 2], {}]) {
      assertRejectedAt(
        await bulk("deals", { filters: { fid: value }, fields: { note: "x" } }),
        "filters.fid",
      );
    }
  });
}, { writes: "rows" });
