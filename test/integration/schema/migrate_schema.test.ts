import { assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Database } from "../../../src/database/postgres/database.ts";
import { findSchema } from "../../../src/database/schema/find_schema.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { SCHEMA_STATEMENTS, VERSIONS } from "../../../src/database/schema/statements.ts";
import { SCOPES } from "../../../src/access/scopes.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { openSubject } from "../database/open_subject.ts";

/** What an earlier version of Rowgate made. */
const FIRST_VERSION = VERSIONS[0]!.map((text) => text[0]!).join(";");

/** A function of version 9, as version 8 had it: without what makes it one of version 9. */
const EARLIER_SHAPE =
  `create or replace function rowgate.changes_shape(feed int4, root oid) returns json
  language plpgsql as $$ begin return '{}'; end $$`;

/** What version 7 had for what version 8 has. */
const WAITING_WRITERS = `${EARLIER_SHAPE};
  drop function rowgate.changes_flush() cascade;
  create function rowgate.keep_durable() returns trigger language plpgsql as
    $$ begin perform set_config('synchronous_commit', 'local', true); return null; end $$;
  create constraint trigger keep_durable after insert on rowgate.changes
    deferrable initially deferred for each row execute function rowgate.keep_durable()`;

for (const kind of DATABASE_KINDS) {
  describe(`a schema rowgate of version 1 on ${kind}`, () => {
    let test: TestDatabase;
    let owner: Database;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      ({ database: owner } = openSubject(test));
      await test.admin.unsafe(FIRST_VERSION);
      await test.admin`insert into rowgate.tokens (id, digest, tenant, scopes)
        values ('kept', 'x', '1', '{query}')`;
    });
    after(async () => {
      await owner?.close(1000);
      await test?.drop();
    });

    if (kind === "real") {
      it("is sufficient for a role that may read tokens, without an audit [R33]", async () => {
        await test.admin`grant usage on schema rowgate to rowgate_app`;
        await test.admin`grant select on rowgate.tokens to rowgate_app`;
        const { database } = openSubject({ ...test, url: test.servingUrl });
        assertEquals(await migrateSchema(database), "current");
        assertEquals(await migrateSchema(database, { audit: true }), "not permitted");
        await database.close(1000);
        assertEquals((await findSchema(owner)).version, 1);
      });
    }

    it("is migrated to version 11, and keeps its tokens [R33]", async () => {
      assertEquals(await migrateSchema(owner), "migrated");
      assertEquals(await findSchema(owner), {
        version: 11,
        readsTokens: true,
        readsSecrets: true,
        readsChanges: true,
        writesAudit: true,
        prunesAudit: true,
        keepsWebhooks: true,
        keepsAnswers: true,
      });
      assertEquals(await migrateSchema(owner, { audit: true }), "current");
      const versions = await test.admin`select version from rowgate.migrations order by version`;
      assertEquals(versions.map((row) => row["version"]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      assertEquals([...await test.admin`select id from rowgate.tokens`], [{ id: "kept" }]);
    });

    it("admits every scope to the tokens, and no other [R33] [A9]", async () => {
      const admit = (scopes: readonly string[]) =>
        test.admin.unsafe(`update rowgate.tokens set scopes = '{${scopes}}'`);
      await admit(SCOPES);
      await assertRejects(async () => void await admit(["drop"]));
      await admit(["query"]);
    });

    it("has one secret, which later runs keep [R48]", async () => {
      const secrets = () => test.admin`select number, length(secret) as bytes from rowgate.secrets`;
      assertEquals([...await secrets()], [{ number: 1, bytes: 32 }]);
      for (const text of SCHEMA_STATEMENTS) await test.admin.unsafe(text);
      assertEquals([...await secrets()], [{ number: 1, bytes: 32 }]);
    });

    it("can be created twice by hand [R34]", async () => {
      for (const text of SCHEMA_STATEMENTS) await test.admin.unsafe(text);
      assertEquals(await migrateSchema(owner), "current");
    });

    it("no longer makes writers wait for the disk, as version 7 did [R33] [CH18]", async () => {
      await test.admin.unsafe(WAITING_WRITERS);
      assertEquals((await findSchema(owner)).version, 7);
      assertEquals(await migrateSchema(owner), "migrated");
      const left = await test.admin`select from pg_trigger
        where tgrelid = 'rowgate.changes'::regclass and not tgisinternal`;
      assertEquals([left.length, (await findSchema(owner)).version], [0, 11]);
    });

    it("recognises the triggers of later versions, which version 8 does not [R33] [CH3]", async () => {
      await test.admin.unsafe(EARLIER_SHAPE);
      assertEquals((await findSchema(owner)).version, 8);
      assertEquals(await migrateSchema(owner), "migrated");
      const [row] = await test.admin`select rowgate.changes_shape(1, 0::oid) as shape`;
      assertEquals([row!["shape"], (await findSchema(owner)).version], [null, 11]);
    });

    if (kind === "real") {
      it("lets a role that could read the tokens read the secrets too [R48]", async () => {
        const { database } = openSubject({ ...test, url: test.servingUrl });
        assertEquals((await findSchema(database)).readsSecrets, true);
        await database.close(1000);
      });

      it("needs only INSERT for a role that writes the audit [R23]", async () => {
        const { database } = openSubject({ ...test, url: test.servingUrl });
        assertEquals(await migrateSchema(database), "current");
        assertEquals(await migrateSchema(database, { audit: true }), "not permitted");
        await test.admin`grant insert on rowgate.audit to rowgate_app`;
        assertEquals(await migrateSchema(database, { audit: true }), "current");
        assertEquals((await findSchema(database)).prunesAudit, false);
        await database.close(1000);
      });
    }
  });
}
