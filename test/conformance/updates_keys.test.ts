import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertMatched, assertOk, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Updates, tables of all kinds of keys", ({ single, bulk, run, service }) => {
  const theirs = () => checksumTenant(service().database.admin, 2);

  it("updates one row of a composite key, and rejects each of its columns [T36] [T33] [U11] [US7]", async () => {
    const others = await theirs();
    const filters = { order_no: 7, line_no: 2 };
    assertEquals(
      assertOk(
        await single("order_lines", { filters, fields: { product: "Composite" } }),
      )["updated"],
      1,
    );
    assertEquals(
      await run("select tenant_id, order_no, line_no from order_lines where product = 'Composite'"),
      [
        { tenant_id: 1, order_no: 7, line_no: 2 },
      ],
    );
    for (const field of ["tenant_id", "order_no", "line_no"]) {
      for (const update of [single, bulk]) {
        assertRejectedAt(
          await update("order_lines", { filters, fields: { product: "x", [field]: 2 } }),
          `fields.${field}`,
          field,
        );
      }
    }
    assertMatched(
      await single("order_lines", { filters: { order_no: 7 }, fields: { product: "x" } }),
      409,
      4,
    );
    assertEquals(await theirs(), others);
  });

  it("updates a table without a key: repeated rows are several [T37] [US20]", async () => {
    const others = await theirs();
    const stored = await run(
      "select kind, amount, at::text, count(*)::int4 as n from events_log where tenant_id = 1 group by 1, 2, 3 order by n, at limit 1",
    );
    const { kind: name, amount, at } = stored[0] ?? {};
    const one = assertOk(
      await single("events_log", { filters: { kind: name, amount, at }, fields: { kind: "only" } }),
    );
    assertEquals([one["matched"], one["updated"]], [1, 1]);
    assertEquals((await run("select 1 from events_log where kind = 'only'")).length, 1);
    await run(
      "insert into events_log select 1, 'twin', 1, '2026-01-01Z' from generate_series(1, 2)",
    );
    assertMatched(
      await single("events_log", { filters: { kind: "twin" }, fields: { amount: 9 } }),
      409,
      2,
    );
    assertEquals(
      assertOk(
        await bulk("events_log", { filters: { kind: "twin" }, fields: { amount: 9 } }),
      )["updated"],
      2,
    );
    assertEquals(await theirs(), others);
  });

  it("updates exactly the row that matches in a partitioned table, where ctids repeat [T3] [U20]", async () => {
    const others = await theirs();
    for (const id of [1, 70, 190, 260]) {
      const body = assertOk(
        await single("measurements", { filters: { id }, fields: { sensor: `only ${id}` } }),
      );
      assertEquals([body["matched"], body["updated"]], [1, 1]);
      assertEquals(await run(`select id::int4 from measurements where sensor = 'only ${id}'`), [{
        id,
      }]);
    }
    assertEquals(await theirs(), others);
  });

  it("updates rows of several partitions at once [T3] [U32]", async () => {
    const [{ n } = { n: 0 }] = await run(
      "select count(*)::int4 as n from measurements where tenant_id = 1 and reading is null",
    );
    assertEquals(
      assertOk(
        await bulk("measurements", { filters: { reading: null }, fields: { reading: -1 } }),
      )["updated"],
      n,
    );
  });

  it("rejects both columns of the partitioned key [U11]", async () => {
    for (const field of ["id", "taken_at"]) {
      assertRejectedAt(
        await single("measurements", { filters: { id: 1 }, fields: { [field]: "2026-01-01" } }),
        `fields.${field}`,
      );
    }
  });

  it("updates mixed-case columns apart from each other [N3] [IN6]", async () => {
    assertOk(await single("MixedCase", { filters: { Id: 2 }, fields: { Value: "upper" } }));
    assertOk(
      await single("MixedCase", { filters: { Value: "upper" }, fields: { value: "lower" } }),
    );
    assertEquals(await run(`select "Value", value from "MixedCase" where "Id" = 2`), [{
      Value: "upper",
      value: "lower",
    }]);
  });
}, { writes: "rows" });
