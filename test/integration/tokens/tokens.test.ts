import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Database } from "../../../src/database/postgres/database.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";
import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  type TokenDraft,
} from "../../../src/access/tokens/manage.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { VERSIONS } from "../../../src/database/schema/statements.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { mintToken } from "../../../src/access/tokens/token_text.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { configure, openSubject } from "../database/open_subject.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";

const DRAFT: TokenDraft = {
  tenant: 'acme "quoted" ü',
  name: "ERP\\import",
  scopes: ["query"],
  tables: ["orders", "order_lines"],
  expiry: { kind: "after", seconds: 3600 },
};

for (const kind of DATABASE_KINDS) {
  describe(`tokens on ${kind}`, () => {
    let test: TestDatabase;
    let database: Database;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      ({ database } = openSubject(test));
    });
    after(async () => {
      await database.close(1000);
      await test.drop();
    });

    async function create(change: Partial<TokenDraft> = {}) {
      const created = await createToken(database, { ...DRAFT, ...change });
      assert(created !== undefined);
      return created;
    }
    const find = (token: string) => createTokenStore(database).find(token);

    it("is 503 before the schema is made, not 401 [AU17]", async () => {
      const { token } = mintToken();
      const error = await assertRejects(async () => await find(token), ApiError);
      assertEquals(error.status, 503);
    });

    it("creates the schema once, however many servers start at the same time [R33]", async () => {
      // Each server has transactions of its own; PGlite has only one session.
      const others = (kind === "real" ? [1, 2, 3] : []).map(() => openSubject(test).database);
      const states = await Promise.all([database, ...others].map((each) => migrateSchema(each)));
      await Promise.all(others.map((other) => other.close(1000)));
      assert(states.includes("migrated"));
      assertEquals(await migrateSchema(database), "current");
      const versions = await test.admin`select version from rowgate.migrations order by 1`;
      assertEquals(versions.map((row) => row.version), VERSIONS.map((_, place) => place + 1));
    });

    it("finds a created token, and stores only its digest [A23]", async () => {
      const { token, record } = await create();
      const access = await find(token);
      assertEquals(access, {
        tokenId: token.slice(3, 14),
        name: DRAFT.name,
        tenant: DRAFT.tenant,
        scopes: ["query"],
        tables: ["orders", "order_lines"],
        expiresAt: record.expiresAt,
      });
      const [row] = await test.admin`select t::text as text from rowgate.tokens t
        where id = ${record.id}`;
      assert(!String(row?.text).includes(token.slice(15)));
      const [stored] = await test.admin`select encode(digest, 'hex') as digest, encode(
        sha256(convert_to(${token}::text, 'UTF8')), 'hex') as expected
        from rowgate.tokens where id = ${record.id}`;
      assertEquals(stored?.digest, stored?.expected);
    });

    it("rejects an unknown token of the right form [A4]", async () => {
      assertEquals(await find(mintToken().token), null);
    });

    it("expires a token by the clock of the database [A5]", async () => {
      const { token, record } = await create();
      await test.admin`update rowgate.tokens set expires_at = now() where id = ${record.id}`;
      assertEquals(await find(token), null);
    });

    it("rejects an expiry in the past [A16]", async () => {
      const expiry = { kind: "at", time: "2020-01-01T00:00:00.000Z" } as const;
      const count = (await listTokens(database)).length;
      assertEquals(await createToken(database, { ...DRAFT, expiry }), undefined);
      assertEquals((await listTokens(database)).length, count);
    });

    it("creates tokens without expiry and for all tables [A16]", async () => {
      const { token } = await create({ expiry: { kind: "never" }, tables: null, name: null });
      const access = await find(token);
      assertEquals([access?.expiresAt, access?.tables, access?.name], [null, null, null]);
    });

    it("revokes a token permanently, effective with the next look-up [A19]", async () => {
      const { token, record } = await create();
      const first = await revokeToken(database, record.id);
      assertEquals(await find(token), null);
      const second = await revokeToken(database, record.id);
      assertEquals(second?.revokedAt, first?.revokedAt);
      assertEquals(await revokeToken(database, "aaaaaaaaaaa"), undefined);
    });

    it("lists by tenant, oldest first [A18]", async () => {
      const made = [await create({ tenant: "listed" }), await create({ tenant: "listed" })];
      const listed = await listTokens(database, { tenant: "listed" });
      assertEquals(listed.map(({ id }) => id), made.map(({ record }) => record.id));
    });

    it("rotates: the same rights and lifetime, the old one for the overlap [A20]", async () => {
      const { token, record } = await create();
      const rotated = await rotateToken(database, { id: record.id, overlapSeconds: 60 });
      assert(rotated !== undefined);
      const { tokenId: _old, expiresAt: oldEnd, ...old } = await find(token) ?? {};
      const { tokenId: _new, expiresAt: newEnd, ...fresh } = await find(rotated.token) ?? {};
      assertEquals(fresh, old);
      assertEquals(rotated.record.replaces, record.id);
      assert(oldEnd && newEnd && newEnd > oldEnd);
      const lifetime = newEnd.getTime() - rotated.record.createdAt.getTime();
      assert(Math.abs(lifetime - 3_600_000) < 5);
      assert(oldEnd.getTime() - rotated.record.createdAt.getTime() <= 60_001);
    });

    it("rotates with no overlap: the old one ends now [A20]", async () => {
      const { token, record } = await create({ expiry: { kind: "never" } });
      const rotated = await rotateToken(database, { id: record.id, overlapSeconds: 0 });
      assertEquals(await find(token), null);
      assertEquals((await find(rotated?.token ?? ""))?.expiresAt, null);
    });

    it("rotates a token once, also when two requests arrive at a time [A20]", async () => {
      const { record } = await create();
      const outcomes = await Promise.allSettled(
        [1, 2].map(() => rotateToken(database, { id: record.id, overlapSeconds: 60 })),
      );
      const made = outcomes.filter((outcome) =>
        outcome.status === "fulfilled" && outcome.value !== undefined
      );
      assertEquals(made.length, 1);
      assertEquals(await rotateToken(database, { id: record.id, overlapSeconds: 60 }), undefined);
    });
  });
}

describe("a role of least rights", () => {
  let test: TestDatabase;
  let serving: Database;

  before(async () => {
    test = await createTestDatabase("real");
    const config = configure({ databaseUrl: test.servingUrl });
    serving = openDatabase(config, () => {});
  });
  after(async () => {
    await serving.close(1000);
    await test.drop();
  });

  it("may not create the schema, and gets a message that says so [R34]", async () => {
    assertEquals(await migrateSchema(serving), "not permitted");
    const found = await test.admin`select from pg_namespace where nspname = 'rowgate'`;
    assertEquals(found.length, 0);
  });

  it("serves with SELECT on rowgate.tokens only, and attempts no migration [R33]", async () => {
    const owner = openDatabase(configure({ databaseUrl: test.url }), () => {});
    const created = await migrateSchema(owner).then(() => createToken(owner, DRAFT));
    await owner.close(1000);
    await test.admin`grant usage on schema rowgate to rowgate_app`;
    await test.admin`grant select on rowgate.tokens to rowgate_app`;
    assertEquals(await migrateSchema(serving), "current");
    const access = await createTokenStore(serving).find(created?.token ?? "");
    assertMatch(access?.tenant ?? "", /^acme/);
    const error = await assertRejects(() => createToken(serving, DRAFT), DatabaseError);
    assertEquals(error.kind, "permission");
  });
});
