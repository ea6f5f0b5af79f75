import { assertEquals, assertMatch } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { SCHEMA_STATEMENTS } from "../../../src/database/schema/statements.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate } from "../cli/run_rowgate.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";

const ON = { ROWGATE_AUDIT: "on" };
const KEPT = { ...ON, ROWGATE_AUDIT_DAYS: "90" };
const MAY_CHANGE = "error: the role rowgate_app may change or delete records in rowgate.audit";

describe("doctor on the schema rowgate", () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase("real", "empty");
  });
  after(() => test.drop());
  beforeEach(async () => {
    await test.admin.unsafe(`drop schema if exists rowgate cascade;
      ${SCHEMA_STATEMENTS.join(";")};
      grant usage on schema rowgate to rowgate_app;
      grant select on rowgate.tokens, rowgate.secrets to rowgate_app;
      grant select, insert, delete on rowgate.idempotency_keys to rowgate_app;
      grant insert on rowgate.audit to rowgate_app`);
  });

  async function look(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
    return findingsOf(await examineDatabase(test, { environment }), "schema rowgate");
  }

  /** Runs the statements of the findings. */
  async function applyFixes(environment: Readonly<Record<string, string>>): Promise<void> {
    const { findings } = (await examineDatabase(test, { environment })).get("schema rowgate")!;
    for (const { fix } of findings) await test.admin.unsafe(fix);
  }

  it("finds nothing where the role has the rights of the setup", async () => {
    assertEquals(await look({}), []);
    assertEquals(await look(ON), []);
    const found = await examineDatabase(test, { environment: ON });
    assertEquals(found.get("schema rowgate")!.seen, "ready, audit on");
  });

  it("finds an audit that cannot be written, and its statement fixes that", async () => {
    await test.admin`revoke insert on rowgate.audit from rowgate_app`;
    assertEquals(await look({}), []);
    assertEquals(await look(ON), [
      "warning: ROWGATE_AUDIT is on, but the role rowgate_app may not insert into rowgate.audit",
    ]);
    await applyFixes(ON);
    assertEquals(await look(ON), []);
    await test.admin`revoke usage on schema rowgate from rowgate_app`;
    assertEquals((await look(ON)).length, 3);
    await applyFixes(ON);
    assertEquals(await look(ON), []);
  });

  it("finds a rate limit that cannot be shared, and its statement fixes that [M23]", async () => {
    const shared = { ROWGATE_RATE_LIMIT: "600/min", ROWGATE_RATE_LIMIT_SCOPE: "instances" };
    assertEquals(await look({ ROWGATE_RATE_LIMIT: "600/min" }), []);
    assertEquals(await look(shared), [
      "warning: ROWGATE_RATE_LIMIT_SCOPE is instances, " +
      "but the role rowgate_app may not call rowgate.lease_rates",
    ]);
    await applyFixes(shared);
    assertEquals(await look(shared), []);
    await test.admin`drop function rowgate.lease_rates`;
    assertEquals(await look(shared), [
      "warning: ROWGATE_RATE_LIMIT_SCOPE is instances, but there is no function rowgate.lease_rates",
    ]);
  });

  it("finds that the audit table is missing", async () => {
    await test.admin`drop table rowgate.audit`;
    assertEquals(await look({}), []);
    assertEquals(await look(ON), [
      "warning: ROWGATE_AUDIT is on, but there is no table rowgate.audit",
    ]);
  });

  for (const right of ["update", "delete", "truncate"]) {
    it(`finds a role that may ${right} the audit, and its statement fixes that`, async () => {
      await test.admin.unsafe(`grant ${right} on rowgate.audit to rowgate_app`);
      assertEquals(await look(ON), [MAY_CHANGE]);
      // What was left while it was on is there still.
      assertEquals(await look({}), [MAY_CHANGE]);
      await applyFixes(ON);
      assertEquals(await look(ON), []);
    });
  }

  it("expects the right to delete where old records are deleted", async () => {
    const missing =
      "warning: ROWGATE_AUDIT_DAYS is set, but the role rowgate_app may not delete old records";
    assertEquals(await look(KEPT), [missing]);
    await test.admin`grant delete on rowgate.audit to rowgate_app`;
    assertEquals(await look(KEPT), [missing]);
    await applyFixes(KEPT);
    assertEquals(await look(KEPT), []);
    await test.admin`grant update on rowgate.audit to rowgate_app`;
    assertEquals(await look(KEPT), [MAY_CHANGE]);
    await applyFixes(KEPT);
    assertEquals(await look(KEPT), []);
  });

  it("finds a role without page tokens, and its statement fixes that", async () => {
    await test.admin`revoke select on rowgate.secrets from rowgate_app`;
    assertEquals(await look({}), ["warning: the role rowgate_app may not read rowgate.secrets"]);
    await applyFixes({});
    assertEquals(await look({}), []);
    await test.admin`drop table rowgate.secrets`;
    assertEquals(await look({}), ["warning: there is no table rowgate.secrets"]);
  });

  it("finds a role that may replace the secrets, and its statement fixes that", async () => {
    await test.admin`grant update on rowgate.secrets to rowgate_app`;
    assertEquals(await look({}), ["error: the role rowgate_app may write rowgate.secrets"]);
    await applyFixes({});
    assertEquals(await look({}), []);
  });

  it("finds a role that cannot keep answers, and its statement fixes that [IK22]", async () => {
    for (const right of ["select", "insert", "delete"]) {
      await test.admin.unsafe(`revoke ${right} on rowgate.idempotency_keys from rowgate_app`);
      assertEquals(await look({}), [
        "warning: the role rowgate_app may not keep answers in rowgate.idempotency_keys",
      ]);
      await applyFixes({});
      assertEquals(await look({}), []);
    }
    await test.admin`drop table rowgate.idempotency_keys`;
    assertEquals(await look({}), ["warning: there is no table rowgate.idempotency_keys"]);
  });

  it("finds a role that can make tokens itself", async () => {
    await test.admin`grant insert on rowgate.tokens to rowgate_app`;
    assertEquals(await look({}), ["error: the role rowgate_app may write rowgate.tokens"]);
    await applyFixes({});
    assertEquals(await look({}), []);
  });

  it("is printed by the command, as text and as JSON", async () => {
    await test.admin`grant delete on rowgate.audit to rowgate_app`;
    const settings = { DATABASE_URL: test.servingUrl!, ...ON };
    const { code, out } = await runRowgate(["doctor"], settings);
    assertEquals(code, 1);
    assertMatch(out, /^ERROR +schema rowgate +ready, audit on\n +ERROR the role rowgate_app may/m);
    assertMatch(out, /^ +revoke update, truncate, delete on rowgate\.audit from "rowgate_app";$/m);
    const { checks } = JSON.parse((await runRowgate(["doctor", "--json"], settings)).out);
    const { findings } = checks.find(({ name }: { name: string }) => name === "schema rowgate");
    assertEquals(Object.keys(findings[0]), ["id", "level", "what", "why", "fix"]);
  });
});
