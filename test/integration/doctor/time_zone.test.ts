import { assertEquals, assertMatch } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

for (const kind of DATABASE_KINDS) {
  describe(`doctor, time zone (${kind})`, () => {
    let test: TestDatabase;

    beforeEach(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(`
        create table people (id int4 primary key, tenant_id int4 not null, updated_at timestamp);
        create table pets (id int4, tenant_id int4 not null, "lastModified" timestamp,
          modified_at timestamptz, created_at timestamp);`);
      if (kind === "real") {
        await test.admin`grant select, update on all tables in schema public to rowgate_app`;
      }
    });
    afterEach(() => test.drop());

    it("warns of change columns without zone, and prints what mends them [R51]", async () => {
      const { findings } = (await examineDatabase(test)).get("time zone")!;
      assertEquals(findings.map(({ what }) => what), [
        "people.updated_at says when a row was changed, and has no time zone",
        "pets.lastModified says when a row was changed, and has no time zone",
      ]);
      assertMatch(findings[0]!.fix, /^rowgate changes enable people/);
      await test
        .admin`insert into pets values (1, 1, '2026-07-01 08:00', null, '2026-07-01 08:00')`;
      const [name] = await test.admin`select current_database() as name`;
      await test.admin.unsafe(`alter database "${name!.name}" set timezone = 'America/New_York'`);
      const later = (await examineDatabase(test)).get("time zone")!;
      assertEquals(later.seen, "America/New_York, of the database");
      await test.admin.unsafe(later.findings[1]!.fix);
      const [row] = await test.admin`select
        "lastModified" = '2026-07-01 12:00Z'::timestamptz as moved, created_at::text from pets`;
      assertEquals({ ...row }, { moved: true, created_at: "2026-07-01 08:00:00" });
      assertEquals(findingsOf(await examineDatabase(test), "time zone").length, 1);
    });

    it("reads the zone that a new session gets, which the role can have for itself [R50]", async () => {
      const seenOf = async (environment = {}) =>
        (await examineDatabase(test, { environment })).get("time zone")!.seen;
      assertEquals(await seenOf(), "UTC, of the database");
      const [row] = await test.admin`select current_database() as name`;
      const alter = (what: string) => test.admin.unsafe(`alter ${what}`);
      await alter(`database "${row!.name}" set timezone = 'Asia/Tokyo'`);
      assertEquals(await seenOf(), "Asia/Tokyo, of the database");
      assertEquals(
        await seenOf({ ROWGATE_TIME_ZONE: "Europe/Berlin" }),
        "Europe/Berlin, ROWGATE_TIME_ZONE",
      );
      assertEquals(await seenOf({ ROWGATE_PREPARE: "off" }), "Asia/Tokyo, of the database");
      if (kind === "embedded") return;
      const role = `role rowgate_app in database "${row!.name}"`;
      await alter(`${role} set timezone = 'America/New_York'`);
      assertEquals(await seenOf(), "America/New_York, of the database");
      assertMatch(
        findingsOf(await examineDatabase(test), "time zone")[0]!,
        /^warning: the role \w+, which owns tables, has no time zone of its own, and the serving/,
      );
      await alter(`${role} reset timezone`);
    });
  });
}
