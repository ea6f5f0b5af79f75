import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertRefused, assertRefusedAt } from "./assert_answer.ts";
import { describeService } from "./describe_service.ts";

describeService("Updates, shape of an update", ({ single, bulk, service }) => {
  for (const [name, update] of [["single", single], ["bulk", bulk]] as const) {
    const mine = () => checksumTenant(service().database.admin, 1);
    const good = { filters: { fid: 1 }, fields: { note: "x" } };

    it(`refuses other top-level keys in ${name} [U16] [US21]`, async () => {
      const before = await mine();
      for (const key of ["page", "per_page", "select", "filter", "__proto__", "limit"]) {
        assertRefusedAt(await update("deals", { ...good, [key]: 1 }), key);
      }
      assertRefusedAt(await update("deals", { ...good, feilds: {} }), "feilds", '"fields"');
      assertEquals(await mine(), before);
    });

    it(`refuses a body of ${name} that is no object [HT10]`, async () => {
      for (const raw of ["null", "[]", "1", '"x"', "true"]) {
        assertRefusedAt(await update("deals", undefined, { raw }), "body");
      }
    });

    it(`refuses an unknown column in ${name}, naming it and the nearest [U12] [E10] [US8] [UB6]`, async () => {
      const before = await mine();
      assertRefusedAt(
        await update("deals", { ...good, filters: { statsu: "open" } }),
        "filters.statsu",
        '"statsu"',
        '"status"',
      );
      assertRefusedAt(
        await update("deals", { ...good, fields: { tittle: "x" } }),
        "fields.tittle",
        '"tittle"',
        '"title"',
      );
      assertEquals(await mine(), before);
    });

    it(`names the path of each rejection in ${name} [U19]`, async () => {
      const answer = await update("deals", {
        filters: { fid: "x", status: [1] },
        fields: { created_on: "2026-02-30" },
      });
      assertRefused(answer, 400, /^filters\./);
    });

    it(`refuses a scalar column set to an object or an array in ${name} [U8]`, async () => {
      const before = await mine();
      for (const value of [{}, [], { a: 1 }, ["x"]]) {
        for (const field of ["note", "amount", "closed", "modified_at", "owner", "stage"]) {
          assertRefusedAt(
            await update("deals", { ...good, fields: { [field]: value } }),
            `fields.${field}`,
          );
        }
      }
      assertEquals(await mine(), before);
    });

    it(`refuses NULL for a NOT NULL column in ${name}, naming it [U13] [US13]`, async () => {
      const before = await mine();
      for (const field of ["title", "status", "closed", "created_on"]) {
        assertRefusedAt(
          await update("deals", { ...good, fields: { [field]: null } }),
          `fields.${field}`,
          field,
        );
      }
      assertRefusedAt(
        await update("everything", { filters: { id: 1 }, fields: { d_needed: null } }),
        "fields.d_needed",
      );
      assertEquals(await mine(), before);
    });

    it(`refuses NULL for a NOT NULL column in ${name} even when no row matches [U13]`, async () => {
      assertRefusedAt(
        await update("deals", { filters: { fid: 999999 }, fields: { title: null } }),
        "fields.title",
      );
    });
  }
});
