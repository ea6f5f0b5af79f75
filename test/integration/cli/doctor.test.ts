import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate } from "./run_rowgate.ts";

describe("rowgate doctor", () => {
  let test: TestDatabase;
  let folder: string;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(`create table people (id int4 primary key, tenant_id int4);
      grant select on people to rowgate_app`);
    folder = await mkdtemp(join(tmpdir(), "rowgate-doctor-"));
  });
  after(async () => {
    await test.drop();
    await rm(folder, { recursive: true });
  });

  const look = (...options: readonly string[]) =>
    runRowgate(["doctor", ...options], { DATABASE_URL: test.servingUrl! });

  it("prints a line for each check and the fix of each finding, and exits with 1 [R31]", async () => {
    const { code, out, err } = await look();
    assertEquals(code, 1);
    assertEquals(err, "");
    assertMatch(out, /^ok +serving role +rowgate_app$/m);
    assertMatch(out, /^warning rows without tenant +1 table\n +- people\.tenant_id may be NULL$/m);
    assertMatch(out, /^ +alter table "public"\."people" alter column "tenant_id" set not null;$/m);
    assertMatch(out, /\n1 error, 2 warnings in 15 checks\.\n$/);
  });

  it("prints the same as JSON", async () => {
    const { code, out } = await look("--json");
    assertEquals(code, 1);
    const { safe, checks } = JSON.parse(out) as {
      safe: boolean;
      checks: { name: string; findings: { what: string }[] }[];
    };
    assertEquals(safe, false);
    assertEquals(checks.length, 15);
    assertEquals(checks.flatMap(({ findings }) => findings.map(({ what }) => what)), [
      "synchronous_commit or fsync is off",
      "people.tenant_id may be NULL",
      "no index of people begins with tenant_id",
    ]);
  });

  it("exits with 0 when there are no findings", async () => {
    const { code, out } = await runRowgate(["doctor"], { ROWGATE_DATA_DIR: join(folder, "data") });
    assertMatch(out, /\nNo findings in 15 checks\.\n$/);
    assertEquals(code, 0);
  });

  it("says in one line that the database is unavailable, and exits with 1", async () => {
    const DATABASE_URL = "postgres://nobody@127.0.0.1:1/nothing";
    const { code, out, err } = await runRowgate(["doctor"], { DATABASE_URL });
    assertEquals(code, 1);
    assertEquals(out, "");
    assertMatch(err, /rowgate: the database is not available[^\n]*\n$/);
  });
});
