import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { unpackCluster } from "../../support/unpack_cluster.ts";
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
    assertMatch(out, /\n1 error, 2 warnings in 20 checks\.\n$/);
  });

  it("prints the same as JSON", async () => {
    const { code, out } = await look("--json");
    assertEquals(code, 1);
    const { safe, checks } = JSON.parse(out) as {
      safe: boolean;
      checks: { name: string; findings: { what: string }[] }[];
    };
    assertEquals(safe, false);
    assertEquals(checks.length, 20);
    assertEquals(checks.flatMap(({ findings }) => findings.map(({ what }) => what)), [
      "synchronous_commit or fsync is off",
      "people.tenant_id may be NULL",
      "no index of people begins with tenant_id",
    ]);
  });

  it("exits with 1 when no table is exposed [R52]", async () => {
    const ROWGATE_DATA_DIR = join(folder, "data");
    await unpackCluster(ROWGATE_DATA_DIR);
    const { code, out } = await runRowgate(["doctor"], { ROWGATE_DATA_DIR });
    assertMatch(out, /^ERROR +exposed tables +0 tables of the schema public\n +ERROR no table is/m);
    assertMatch(out, /^ +rowgate tables {4}#/m);
    assertEquals(code, 1);
  });

  it("exits with 0 for warnings with --fail-on error, and lists what the policy accepts [R52] [R53]", async () => {
    const accept = async (...ids: string[]) => {
      const file = join(folder, "policy.json");
      const accepted_findings = ids.map((id) => ({ id, reason: `because of ${id}` }));
      await writeFile(file, JSON.stringify({ accepted_findings }));
      const environment = { DATABASE_URL: test.servingUrl!, ROWGATE_POLICY: file };
      return (...options: string[]) => runRowgate(["doctor", ...options], environment);
    };
    for (const level of ["error", "warning"]) {
      assertEquals((await look("--fail-on", level)).code, 1);
    }
    assertEquals((await look("--fail-on", "nothing")).code, 2);
    const some = await accept("durability", "clock");
    const { code, out } = await some("--fail-on", "error");
    assertEquals(code, 0);
    assertMatch(out, /^ +accepted: synchronous_commit or fsync is off\n +because of durability$/m);
    assertMatch(
      out,
      /\n1 finding accepted by the policy\.\nThe policy accepts clock, which is not/,
    );
    assertEquals((await some()).code, 1);
    assertEquals((await some("--fail-on", "warning")).code, 1);
    const all = await accept("durability", "null_tenant:people", "tenant_index:people");
    const { code: none, out: json } = await all("--json");
    assertEquals(none, 0);
    assertEquals((await all("--fail-on", "warning")).code, 0);
    const { safe, checks } = JSON.parse(json) as {
      safe: boolean;
      checks: { findings: unknown[]; accepted: { id: string; reason: string }[] }[];
    };
    assertEquals(safe, true);
    assertEquals(checks.flatMap(({ accepted }) => accepted.map(({ reason }) => reason)), [
      "because of durability",
      "because of null_tenant:people",
      "because of tenant_index:people",
    ]);
  });

  it("says in one line that the database is unavailable, and exits with 1", async () => {
    const DATABASE_URL = "postgres://nobody@127.0.0.1:1/nothing";
    const { code, out, err } = await runRowgate(["doctor"], { DATABASE_URL });
    assertEquals(code, 1);
    assertEquals(out, "");
    assertMatch(err, /rowgate: the database is not available[^\n]*\n$/);
  });
});
