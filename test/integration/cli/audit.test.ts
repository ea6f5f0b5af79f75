import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate, startRowgate } from "./run_rowgate.ts";

const LISTENING = /"listening","address":"([^"]+)"/;

describe("rowgate audit, and rowgate serve with an audit", () => {
  let test: TestDatabase;
  let owner: Record<string, string>;
  let serving: Record<string, string>;

  before(async () => {
    test = await createTestDatabase("real");
    owner = { DATABASE_URL: test.url ?? "" };
    serving = { DATABASE_URL: test.servingUrl ?? "", PORT: "0", ROWGATE_AUDIT: "on" };
  });
  after(() => test.drop());

  it("reports that there is no audit before the schema is created [R30]", async () => {
    const { code, out, err } = await runRowgate(["audit"], owner);
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, "there is no table rowgate.audit");
  });

  it("prints the statements that let a role write it, and does not start without [R23] [R34]", async () => {
    assertEquals((await runRowgate(["setup"], owner)).code, 0);
    await test.admin`grant usage on schema rowgate to rowgate_app`;
    await test.admin`grant select on rowgate.tokens to rowgate_app`;
    const { code, err } = await runRowgate(["serve"], serving);
    assertEquals(code, 1);
    const statements = err.slice(err.indexOf("create schema"));
    assertStringIncludes(statements, "grant insert on rowgate.audit to rowgate_app;");
    await test.admin.unsafe(statements);
  });

  it("records updates, and warns when it may not delete old records [R23]", async () => {
    const { out: token } = await runRowgate(["token", "create", "--tenant", "1"], owner);
    const server = startRowgate(["serve"], { ...serving, ROWGATE_AUDIT_DAYS: "30" });
    const [, address] = await server.see("out", LISTENING);
    assertMatch(server.output.out, /"warning","message":"ROWGATE_AUDIT_DAYS: the database role/);
    const updates = [];
    for (const [id, name] of [[1, "a"], [2, "b"]] as const) {
      const response = await fetch(`${address}/integration/tables/guests/records/single`, {
        method: "PATCH",
        headers: { "authorization": `Bearer ${token.trim()}`, "content-type": "application/json" },
        body: JSON.stringify({ filters: { id, tenant_id: 1 }, fields: { name } }),
      });
      updates.push([response.status, await response.json().then((body) => body.updated)]);
    }
    assertEquals(updates, [[200, 1], [200, 1]]);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    await test.admin`insert into rowgate.audit (at, request_id, token_id, tenant, schema_name,
      table_name, operation, filter_fields, fields, matched, updated) values
      (now() - interval '2 days', 'old' || chr(27) || '[2J', 'aaaaaaaaaaa', 'acme', 'public',
      'orders', 'update_bulk', '{id}', '{a,b}', 7, 5)`;
  });

  it("lists the newest first, as text and as JSON [R30] [R45]", async () => {
    const { out } = await runRowgate(["audit"], owner);
    const lines = out.trimEnd().split("\n");
    assertMatch(
      lines[0]!,
      /^AT +TENANT +TOKEN +OPERATION +TABLE +FILTERS +FIELDS +MATCHED +UPDATED +REQUEST$/,
    );
    assertEquals(lines.length, 4);
    assertMatch(
      lines[1]!,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +1 +\w{11} +update_single +guests +id,tenant_id +name +1 +1 +/,
    );
    assertMatch(lines[3]!, / acme +aaaaaaaaaaa +update_bulk +orders +id +a,b +7 +5 +old�\[2J$/);
    const { out: json } = await runRowgate(["audit", "--json", "--limit", "1"], owner);
    const [record, ...rest] = JSON.parse(json);
    assertEquals(rest, []);
    const { at, request_id: request, token_id: token, ...others } = record;
    assert(!Number.isNaN(Date.parse(at)) && request.length === 36 && token.length === 11);
    assertEquals(others, {
      tenant: "1",
      schema_name: "public",
      table_name: "guests",
      operation: "update_single",
      filter_fields: ["id", "tenant_id"],
      fields: ["name"],
      matched: 1,
      updated: 1,
    });
  });

  it("lists what its options select [R30]", async () => {
    const count = async (...options: string[]) => {
      const { code, out } = await runRowgate(["audit", "--json", ...options], owner);
      assertEquals(code, 0);
      return JSON.parse(out).length;
    };
    assertEquals(await count("--tenant", "acme"), 1);
    assertEquals(await count("--table", "guests", "--tenant", "1"), 2);
    assertEquals(await count("--token", "rg_aaaaaaaaaaa"), 1);
    assertEquals(await count("--since", "24h"), 2);
    assertEquals(await count("--since", "3d"), 3);
    assertEquals(await count("--since", "2020-01-01"), 3);
    assertEquals(await count("--since", "2999-01-01"), 0);
    for (const wrong of [["--limit", "0"], ["--since", "never"], ["--token", "x"]]) {
      assertEquals((await runRowgate(["audit", ...wrong], owner)).code, 2, wrong.join(" "));
    }
    const none = await runRowgate(["audit", "--tenant", "nobody"], owner);
    assertEquals([none.code, none.out], [0, ""]);
    assertStringIncludes(none.err, "no such updates");
  });

  it("is denied to a role that may only write it [R23]", async () => {
    const { code, out, err } = await runRowgate(["audit"], { DATABASE_URL: serving.DATABASE_URL! });
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, "(42501)");
  });
});
