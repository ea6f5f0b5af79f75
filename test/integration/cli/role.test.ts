import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

describe("rowgate serve with different roles", () => {
  let test: TestDatabase;
  let serving: string;

  before(async () => {
    test = await createTestDatabase("real");
    serving = test.servingUrl ?? "";
    await runRowgate(["token", "create", "--tenant", "1"], { DATABASE_URL: test.url ?? "" });
    await test.admin`grant usage on schema rowgate to rowgate_app`;
    await test.admin`grant select on rowgate.tokens, rowgate.secrets to rowgate_app`;
  });
  after(() => test.drop());

  async function serveUntilListening(url = serving): Promise<string> {
    const server = startRowgate(["serve"], { DATABASE_URL: url, PORT: "0" });
    await server.see("out", /"listening","address":"([^"]+)"/);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    return server.output.out;
  }

  it("does not warn of a role of least rights, warns of one that owns tables [R38]", async () => {
    assertEquals(/"warning"[^\n]*the database role/.test(await serveUntilListening()), false);
    await test.admin`create table owned (id int4, tenant_id int4)`;
    await test.admin`grant create on schema public to rowgate_app`;
    await test.admin`alter table owned owner to rowgate_app`;
    assertMatch(await serveUntilListening(), /"warning","message":"[^"]*owns tables/);
  });

  it("warns of a role that bypasses row level security [R38]", async () => {
    // Roles are the cluster's, which other tests use as well: one of its own.
    const role = `above_${crypto.randomUUID().replaceAll("-", "")}`;
    await test.admin.unsafe(`create role ${role} login password 'above' bypassrls;
      grant usage on schema rowgate to ${role}; grant select on rowgate.tokens, rowgate.secrets to ${role}`);
    try {
      const url = serving.replace(/\/\/[^@]+@/, `//${role}:above@`);
      assertMatch(
        await serveUntilListening(url),
        /"warning","message":"[^"]*bypasses row level security/,
      );
    } finally {
      await test.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  });

  it("ends with one clear line on a wrong password, which it does not show [R36] [DB2]", async () => {
    const DATABASE_URL = serving.replace(/:[^:@/]+@/, ":not-the-password@");
    const { code, out, err } = await runRowgate(["serve"], { DATABASE_URL, PORT: "0" });
    assertEquals(code, 1);
    assertMatch(err, /^rowgate: [^\n]*password[^\n]*\n$/);
    assertEquals(`${out}${err}`.includes("not-the-password"), false);
    assertEquals(/waiting|listening/.test(out), false, out);
  });
});
