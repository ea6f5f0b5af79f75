// Runs the SQL of docs/operations/citus.md, and what `rowgate setup --citus` prints, on the demonstration.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { readConfig } from "../../src/server/config/config.ts";
import { fillDemonstration } from "../../src/cli/demonstration/fill.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runRowgate } from "../integration/cli/run_rowgate.ts";
import { CITUS } from "../support/citus.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { readDocument, readTexts } from "./blocks.ts";

const POLICY = { tables: { countries: { shared: true } } };

describe("tables that are distributed by the tenant", () => {
  let test: TestDatabase;
  let folder: string;
  let environment: Record<string, string>;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    const { config } = readConfig({ DATABASE_URL: test.url });
    const database = openDatabase(config!, () => {});
    await fillDemonstration(database);
    await migrateSchema(database);
    await database.close(1000);
    await test.admin.unsafe(CITUS);
    folder = await mkdtemp(join(tmpdir(), "rowgate-citus-"));
    const ROWGATE_POLICY = join(folder, "policy.json");
    await writeFile(ROWGATE_POLICY, JSON.stringify(POLICY));
    environment = { DATABASE_URL: test.url!, ROWGATE_POLICY };
  });
  after(async () => {
    await test?.admin.unsafe(
      "alter role rowgate_app reset lock_timeout; alter role rowgate_app reset statement_timeout",
    );
    await test?.drop();
    await rm(folder, { recursive: true });
  });

  const ALL = ["countries n", "customers h", "order_lines h", "orders h", "products h"];

  it("are made by what setup --citus prints, and by the SQL of the page [M26]", async () => {
    const printed = await runRowgate(["setup", "--citus"], environment);
    assertEquals(printed.code, 0, printed.err);
    const page = readTexts(await readDocument("docs/operations/citus.md"), "sql");
    assertEquals(page.length, 4);
    const rollBack = new Error("roll back");
    for (const statements of [page, printed.out.split(/;$/m)]) {
      const isLast = statements !== page;
      await test.admin.begin(async (sql) => {
        for (const statement of statements) await sql.unsafe(statement);
        const rows = await sql`select logicalrelid::text as name, partmethod as how
          from pg_dist_partition order by 1`;
        assertEquals(rows.map(({ name, how }) => `${name} ${how}`), ALL);
        const [role] = await sql`select rolconfig as limits,
          has_sequence_privilege(rolname, pg_get_serial_sequence('rowgate.audit', 'number'), 'usage')
            as numbers
          from pg_roles where rolname = 'rowgate_app'`;
        assertEquals(role!.limits, ["lock_timeout=5000ms", "statement_timeout=30000ms"]);
        assertEquals(role!.numbers, true);
        if (!isLast) throw rollBack;
      }).catch((error) => {
        if (error !== rollBack) throw error;
      });
    }
    const again = await runRowgate(["setup", "--citus"], environment);
    assert(!/create_|primary key/.test(again.out), again.out);
  });

  it("are examined by doctor [R62]", async () => {
    const look = async () => (await runRowgate(["doctor", "--fail-on", "error"], environment)).out;
    const first = await look();
    assertMatch(first, /PostgreSQL [\d.]+[^\n]*, sharded[^]*timeouts of Rowgate do not reach/);
    assertMatch(first, /alter role [^\n]* set lock_timeout = '5000ms';/);
    await test.admin.unsafe(`alter table orders rename column tenant_id to shop;
      alter table orders add tenant_id text;
      alter database "${(await test.admin`select current_database() as name`)[0]!.name}"
        set lock_timeout = '5s'`);
    const found = await look();
    assertMatch(found, /- orders is distributed by shop, and not by its tenant/);
    assert(!/set lock_timeout/.test(found), found);
    assertMatch(found, /set statement_timeout = '30000ms';/);
  });
});
