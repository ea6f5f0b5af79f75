// What "token create" says of tables and tenants, on real Postgres and on the embedded one.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { parsePolicy } from "../../../src/catalogue/policy.ts";
import { checkNewToken, type TokenCheck } from "../../../src/cli/check_token.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";

const POLICY = {
  tables: {
    plots: { tenant_columns: ["firm", "site"] },
    lines: { tenant_via: { columns: ["order_id"], table: "orders" } },
    hidden: { name: "shown" },
  },
};

for (const kind of DATABASE_KINDS) {
  describe(`checkToken (${kind})`, () => {
    let test: TestDatabase;
    let database: Database;
    let check: (tenant: string, ...tables: string[]) => Promise<TokenCheck>;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(`
        create table orders (id int4 primary key, tenant_id uuid not null);
        create table lines (id int4 primary key, order_id int4 references orders);
        create table plots (id int4 primary key, firm int4, site char(9));
        create table hidden (id int4 primary key, tenant_id uuid not null);
        create table bare (id int4 primary key);
        insert into orders values (1, '11111111-1111-1111-1111-111111111111');
        insert into plots values (1, 7, 'north'), (2, 8, 'south'), (3, null, 'north')`);
      const { config } = readConfig({
        ...test.url === undefined ? {} : { DATABASE_URL: test.url },
        ROWGATE_POOL_SIZE: "2",
      });
      const parsed = parsePolicy(JSON.stringify(POLICY));
      if (config === undefined || !("policy" in parsed)) throw new Error("not configured");
      const { policy } = parsed;
      const observe = () => {};
      const { embedded } = test;
      database = openDatabase(config, observe, embedded && { embedded });
      check = (tenant, ...tables) =>
        checkNewToken(
          { config, policy, database, observe },
          { tenant, ...tables.length === 0 ? {} : { tables } },
        );
    });
    after(async () => {
      if (kind === "real") await database.close(1000);
      await test.drop();
    });

    it("warns of a tenant that no table has, and offers the nearest [A27] [T72]", async () => {
      for (
        const [tenant, near] of [
          ["11111111-1111-1111-1111-111111111112", "11111111-1111-1111-1111-111111111111"],
          ["7/nord", "7/north"],
        ] as const
      ) {
        const warning = `no table has rows of the tenant "${tenant}", did you mean "${near}"?`;
        assertEquals(await check(tenant), { warning });
      }
      for (const tenant of ["11111111-1111-1111-1111-111111111111", "7/north", "8/south"]) {
        assertEquals(await check(tenant), {});
      }
    });

    it("warns of a tenant that the columns' types refuse [CF13] [T72]", async () => {
      for (const tenant of ["acme", "7", "north/7", "7/north/1", "7/"]) {
        assertEquals(await check(tenant), {
          warning:
            `no table can hold the tenant "${tenant}"; tenants are of type int4/text or uuid here`,
        });
      }
    });

    it("refuses tables that do not exist, and takes those that are not exposed yet [A28]", async () => {
      assertEquals(await check("7/north", "plots", "odrers"), {
        problem: '--tables: there is no table "odrers", did you mean "orders"',
      });
      assertEquals(await check("7/north", "hidden"), {
        problem: '--tables: there is no table "hidden"',
      });
      for (const name of ["orders", "lines", "shown", "bare"]) {
        assertEquals(await check("7/north", name), {});
      }
    });
  });
}
