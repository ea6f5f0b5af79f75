import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { runRowgate } from "./run_rowgate.ts";

const TOKEN_LINE = /^rg_[0-9A-Za-z]{11}_[0-9A-Za-z]{49}\n$/;
const DAY_MS = 86_400_000;

describe("rowgate token create", () => {
  let test: TestDatabase;
  let owner: Record<string, string>;

  before(async () => {
    test = await createTestDatabase("real");
    owner = { DATABASE_URL: test.url ?? "" };
  });
  after(() => test.drop());

  async function create(...options: string[]): Promise<string> {
    const { code, out, err } = await runRowgate(["token", "create", ...options], owner);
    assertEquals(code, 0, err);
    assertMatch(out, TOKEN_LINE);
    assert(!err.includes(out.trim()), "the token once more on standard error");
    return out.slice(3, 14);
  }

  async function stored(id: string) {
    const [row] = await test.admin`select tenant, name, scopes::text[] as scopes, tables,
      expires_at, created_at from rowgate.tokens where id = ${id}`;
    return row!;
  }

  it("warns when no table can hold the tenant, and only then [CF11] [CF13]", async () => {
    const own = { ...owner, ROWGATE_SCHEMA: "numbers" };
    await test.admin`create schema numbers`;
    await test.admin`create table numbers.a (id int4 primary key, tenant_id int4)`;
    await test.admin`create table numbers.b (id int4 primary key, tenant_id uuid)`;
    const { code, out, err } = await runRowgate(["token", "create", "--tenant", "acme"], own);
    assertEquals(code, 0);
    assertMatch(out, TOKEN_LINE);
    assertMatch(err, /^Warning: no table can hold the tenant "acme"[^\n]*int4 or uuid here\n/);
    for (const tenant of ["7", crypto.randomUUID()]) {
      const fine = await runRowgate(["token", "create", "--tenant", tenant], own);
      assertEquals([fine.code, fine.err.includes("Warning")], [0, false]);
    }
    await test.admin`drop schema numbers cascade`;
  });

  it("warns of a tenant that no table has rows of, and offers the nearest [A27]", async () => {
    await test.admin.unsafe(`create schema texts;
      create table texts.a (id int4 primary key, tenant_id text);
      create table texts.b (id int4 primary key, tenant_id text);
      insert into texts.a values (1, 'acme'), (2, 'globex');
      insert into texts.b values (1, 'initech')`);
    const own = { ...owner, ROWGATE_SCHEMA: "texts" };
    const warn = async (tenant: string) => {
      const { code, out, err } = await runRowgate(["token", "create", "--tenant", tenant], own);
      assertEquals(code, 0);
      assertMatch(out, TOKEN_LINE);
      return /^Warning: (.*)$/m.exec(err)?.[1];
    };
    assertEquals(
      await warn("acmee"),
      'no table has rows of the tenant "acmee", did you mean "acme"?',
    );
    assertEquals(await warn("something else"), 'no table has rows of the tenant "something else"');
    for (const tenant of ["acme", "initech"]) assertEquals(await warn(tenant), undefined);
    await test.admin`drop schema texts cascade`;
  });

  it("refuses tables that do not exist, and creates no token [A28]", async () => {
    const [before] = await test.admin`select count(*)::int4 as tokens from rowgate.tokens`;
    const options = ["token", "create", "--tenant", "1", "--tables"];
    const { code, out, err } = await runRowgate([...options, "guests,deal"], owner);
    assertEquals([code, out], [1, ""]);
    assertMatch(
      err,
      /^rowgate: --tables: there is no table "deal", did you mean "deals"; no token/m,
    );
    const [after] = await test.admin`select count(*)::int4 as tokens from rowgate.tokens`;
    assertEquals(after, before);
    // It exists, and is not exposed yet.
    assertEquals((await runRowgate([...options, "internal_settings"], owner)).code, 0);
  });

  it("gives both scopes, all tables and 365 days by default [A17] [A14] [CF12]", async () => {
    const row = await stored(await create("--tenant", "1"));
    assertEquals(
      [row.tenant, row.name, [...row.scopes].sort(), row.tables],
      ["1", null, ["query", "update"], null],
    );
    assertEquals(row.expires_at.getTime() - row.created_at.getTime(), 365 * DAY_MS);
  });

  it("follows its options [A15] [A16]", async () => {
    const named = ["--tenant", "acme", "--name", "Poller", "--scope", "query"];
    const row = await stored(
      await create(...named, "--tables", "deals,guests", "--expires", "2099-01-31"),
    );
    assertEquals(
      [row.tenant, row.name, row.scopes, row.tables, row.expires_at.toISOString()],
      ["acme", "Poller", ["query"], ["deals", "guests"], "2099-01-31T00:00:00.000Z"],
    );
    const days = await stored(await create("--tenant", "acme", "--expires", "90d"));
    assertEquals(days.expires_at.getTime() - days.created_at.getTime(), 90 * DAY_MS);
    const never = await stored(await create("--tenant", "acme", "--expires", "never"));
    assertEquals(never.expires_at, null);
  });

  it("lists the tokens of one tenant, as JSON and as text, without secrets [A18] [A24] [CF12]", async () => {
    const id = await create("--tenant", "listed", "--name", "One");
    const json = await runRowgate(["token", "list", "--tenant", "listed", "--json"], owner);
    const records = JSON.parse(json.out) as { id: string; tenant: string }[];
    assertEquals(records.map((record) => [record.id, record.tenant]), [[id, "listed"]]);
    const { out } = await runRowgate(["token", "list"], owner);
    assert(out.includes(id) && out.includes("acme") && !/rg_\w{20}/.test(out), out);
  });
});
