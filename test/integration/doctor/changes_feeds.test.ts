import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { compareDescriptions, describeDatabase } from "../../support/describe_database.ts";
import { run } from "../schemas/follow_page.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

const CHECK = "changes feeds";

describe("doctor on changes feeds", () => {
  let test: TestDatabase;

  /** Runs `rowgate` as the owner. */
  const runAsOwner = async (args: readonly string[]) => {
    const ran = await run(args, { environment: { DATABASE_URL: test.url! }, policy: {} });
    assertEquals(ran.code, 0, ran.err);
    return ran.out;
  };
  const look = async () => findingsOf(await examineDatabase(test), CHECK);
  const correct = async () => {
    for (const { fix } of (await examineDatabase(test)).get(CHECK)!.findings) {
      for (const { kind, text } of readFix(fix)) {
        if (kind === "statement") await test.admin.unsafe(text);
        else await runAsOwner(text.replace(/^rowgate /, "").split(" "));
      }
    }
  };

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`
      create table people (id int4 primary key, tenant_id int4 not null);
      create table pets (id int4 primary key, tenant_id int4 not null)`);
    await test.admin.unsafe(await runAsOwner(["setup", "--print"]));
    await runAsOwner(["changes", "enable", "people", "pets"]);
  });
  after(() => test.drop());

  it("finds nothing where they catch every change", async () => {
    assertEquals(await look(), []);
  });

  it("finds that the role may not read their log, and grants no more than that [CF21]", async () => {
    const before = await describeDatabase(test.admin);
    await test.admin`revoke select on rowgate.changes from rowgate_app`;
    assertEquals(await look(), ["warning: the role rowgate_app may not read rowgate.changes"]);
    await correct();
    assertEquals(await look(), []);
    assertEquals(compareDescriptions(before, await describeDatabase(test.admin)), []);
  });

  it("finds one that does not catch every change, and enables it anew [CF21]", async () => {
    await test.admin`alter table people disable trigger all`;
    assertEquals(await look(), [
      "warning: the feed of the table people does not catch every change",
    ]);
    await correct();
    assertEquals(await look(), []);
  });

  it("finds one whose table is gone, and removes it [CF21]", async () => {
    await test.admin`drop table pets`;
    assertEquals(await look(), [
      "warning: there is a feed of the table pets, which was dropped or renamed",
    ]);
    await correct();
    assertEquals(await look(), []);
    assertEquals([...await test.admin`select table_name from rowgate.feeds`], [
      { table_name: "people" },
    ]);
  });
});
