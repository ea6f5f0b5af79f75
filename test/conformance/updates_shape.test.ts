import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Updates, shape of an update", ({ single, bulk, service }) => {
  for (const [name, update] of [["single", single], ["bulk", bulk]] as const) {
    const mine = () => checksumTenant(service().database.admin, 1);
    const good = { filters: { fid: 1 }, fields: { note: "x" } };

    it(`rejects other top-level keys in ${name} [U16] [US21]`, async () => {
      const before = await mine();
      for (const key of ["page", "per_page", "select", "filter", "__proto__", "limit"]) {
        assertRejectedAt(await update("deals", { ...good, [key]: 1 }), key);
      }
      assertRejectedAt(await update("deals", { ...good, feilds: {} }), "feilds", '"fields"');
      assertEquals(await mine(), before);
    });

    it(`explains the filters of updates when ${name} gets a group of a query [U62]`, async () => {
      for (const combine of ["and", "or"]) {
        const group = { [combine]: [{ field: "fid", op: "eq", value: 1 }] };
        assertRejectedAt(
          await update("deals", { ...good, filters: group }),
          `filters.${combine}`,
          "take no groups",
          '{"id": 1}',
        );
      }
    });

    it(`rejects a body of ${name} that is no object [HT10]`, async () => {
      for (const raw of ["null", "[]", "1", '"x"', "true"]) {
        assertRejectedAt(await update("deals", undefined, { raw }), "body");
      }
    });

    it(`rejects an unknown column in ${name}, naming it and the nearest [U12] [E10] [US8] [UB6]`, async () => {
      const before = await mine();
      assertRejectedAt(
        await update("deals", { ...good, filters: { statsu: "open" } }),
        "filters.statsu",
        '"statsu"',
        '"status"',
      );
      assertRejectedAt(
        await update("deals", { ...good, fields: { tittle: "x" } }),
        "fields.tittle",
        '"tittle"',
        '"title"',
      );
      assertEquals(await mine(), before);
    });

    it(`names the path of each rejection in ${name} [U19]`, async () => {
      const response = await update("deals", {
        filters: { fid: "x", status: [1] },
        fields: { created_on: "2026-02-30" },
      });
      assertRejected(response, 400, /^filters\./);
    });

    it(`rejects a scalar column set to an object or an array in ${name} [U8]`, async () => {
      const before = await mine();
      for (const value of [{}, [], { a: 1 }, ["x"]]) {
        for (const field of ["note", "amount", "closed", "modified_at", "owner", "stage"]) {
          assertRejectedAt(
            await update("deals", { ...good, fields: { [field]: value } }),
            `fields.${field}`,
          );
        }
      }
      assertEquals(await mine(), before);
    });

    it(`rejects NULL for a NOT NULL column in ${name}, naming it [U13] [US13]`, async () => {
      const before = await mine();
      for (const field of ["title", "status", "closed", "created_on"]) {
        assertRejectedAt(
          await update("deals", { ...good, fields: { [field]: null } }),
          `fields.${field}`,
          field,
        );
      }
      assertRejectedAt(
        await update("everything", { filters: { id: 1 }, fields: { d_needed: null } }),
        "fields.d_needed",
      );
      assertEquals(await mine(), before);
    });

    it(`rejects NULL for a NOT NULL column in ${name} even when no row matches [U13]`, async () => {
      assertRejectedAt(
        await update("deals", { filters: { fid: 999999 }, fields: { title: null } }),
        "fields.title",
      );
    });
  }
});
