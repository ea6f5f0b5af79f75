import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { BELONGING_POLICY, BELONGING_SCHEMA } from "../../support/belonging.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

const PATHS = "tenants over foreign keys";
const policy = BELONGING_POLICY;

for (const kind of DATABASE_KINDS) {
  describe(`doctor on tables without a tenant column (${kind})`, () => {
    let test: TestDatabase;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(BELONGING_SCHEMA);
      await test.admin.unsafe(`
        create index on homes (tenant_id, id);
        create index on keepers (tenant_id, id);
        drop index meters_site_region_idx;
        alter table rooms add keeper_id int4 constraint rooms_keeper references keepers`);
    });
    after(() => test.drop());

    it("probes them from both sides, by the rows that they belong to [T59]", async () => {
      const found = await examineDatabase(test, { policy });
      assertEquals(findingsOf(found, "isolation"), []);
      assertEquals(found.get("isolation")!.seen, "6 tables probed from both sides");
    });

    it("would notice rows of another tenant, read and updated [T59]", async () => {
      // As if the service took homes of all tenants for those of the tenant.
      const change = (catalogue: Catalogue): Catalogue => {
        const rooms = catalogue.tables.get("rooms")!;
        const { tenancy } = rooms;
        const broken = { ...tenancy!, via: [{ ...tenancy!.via[0]!, source: OF_ALL as never }] };
        const tables = new Map(catalogue.tables);
        tables.set("rooms", { ...rooms, tenancy: broken });
        return { ...catalogue, tables };
      };
      await test.admin.unsafe(`create table homes_of_all as select h.id, t as tenant_id
          from homes h, generate_series(1, 2) t;
        grant select, update on homes_of_all to public`);
      const found = findingsOf(await examineDatabase(test, { policy, change }), "isolation");
      for (
        const by of ["a page without filters", "the row that it belongs to", "the primary key"]
      ) {
        const what = `error: a token could read another tenant's row of rooms by ${by}`;
        assert(found.includes(what), found.join("\n"));
      }
      assert(found.some((what) => what.includes("could update another tenant's row of rooms")));
      await test.admin.unsafe("drop table homes_of_all");
    });

    it("finds a step without an index, and its statement creates one [T57]", async () => {
      const finding =
        `warning: no index of meters begins with site, region, which lead to its tenant`;
      const found = await examineDatabase(test, { policy });
      assert(findingsOf(found, PATHS).includes(finding), findingsOf(found, PATHS).join("\n"));
      const fix = found.get(PATHS)!.findings.find(({ what }) => finding.endsWith(what))!.fix;
      await test.admin.unsafe(fix);
      assert(!findingsOf(await examineDatabase(test, { policy }), PATHS).includes(finding));
    });

    it("finds rows that belong to none, and prints what to run [T59]", async () => {
      const find = async () => (await examineDatabase(test, { policy })).get(PATHS)!.findings;
      const orphans = (await find()).find(({ what }) => what.startsWith("rooms has rows"));
      assertEquals(orphans?.what, "rooms has rows that belong to no row of homes");
      assertMatch(
        orphans!.fix,
        /^select \* from public\.rooms where "home_id" is null; .*\nalter table/,
      );
      await test.admin.unsafe("delete from rooms where home_id is null");
      const nullable = (await find()).find(({ what }) => what.startsWith("rooms.home_id"));
      assertEquals(nullable?.what, "rooms.home_id may be NULL");
      await test.admin.unsafe(nullable!.fix);
      assertEquals((await find()).filter(({ what }) => what.includes("rooms")), []);
    });

    it("warns of other foreign keys that the policy lets cross tenants, and its policy closes them [T61] [T84]", async () => {
      assertEquals(findingsOf(await examineDatabase(test, { policy }), "other foreign keys"), []);
      const cross_tenant_columns = ["keeper_id"];
      const crossed = { ...policy.tables.rooms, cross_tenant_columns };
      const open = { tables: { ...policy.tables, rooms: crossed } };
      const [finding, ...others] = (await examineDatabase(test, { policy: open }))
        .get("other foreign keys")!.findings;
      assertEquals(finding?.what, "rooms may refer to any tenant's rows of keepers (rooms_keeper)");
      assertEquals(others, []);
      const read_only_columns = ["keeper_id"];
      assertMatch(finding!.fix, new RegExp(`"read_only_columns":\\["keeper_id"\\]`));
      const closed = {
        tables: { ...policy.tables, rooms: { ...crossed, read_only_columns } },
      };
      const later = await examineDatabase(test, { policy: closed });
      assertEquals(findingsOf(later, "other foreign keys"), []);
    });

    if (kind === "real") {
      it("finds a parent that the role may not lock, and prints the smallest grant [T60]", async () => {
        await test.admin.unsafe("revoke update on homes from public");
        const find = async () => (await examineDatabase(test, { policy })).get(PATHS)!.findings;
        const finding = (await find()).find(({ what }) =>
          what.startsWith("rooms cannot be updated")
        );
        assertMatch(
          finding?.fix ?? "",
          /^grant update \("id"\) on public\.homes to "rowgate_app";$/,
        );
        await test.admin.unsafe(finding!.fix);
        assertEquals((await find()).filter(({ what }) => what.includes("cannot be updated")), []);
      });
    }
  });
}

const OF_ALL = `"public"."homes_of_all"`;
