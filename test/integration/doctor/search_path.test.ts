import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, type ExamineOptions, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

const CHECK = "search path";

describe("doctor on the search path", () => {
  let test: TestDatabase;
  let database: string;
  // Roles belong to the whole cluster.
  const suffix = crypto.randomUUID().slice(0, 8);
  const [owner, clerk, odd] = [`owner_${suffix}`, `clerk_${suffix}`, `A, "b"_${suffix}`];
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    const [row] = await test.admin`select current_database() as name`;
    database = quote(row!.name);
    await test.admin.unsafe(`
      create role ${quote(owner)}; create role ${quote(clerk)}; create role ${quote(odd)};
      create schema app;
      create table app.people (id int4 primary key, tenant_id int4 not null);
      create index on app.people (tenant_id);
      alter table app.people owner to ${quote(owner)};
      grant usage on schema app to rowgate_app;
      grant select, update on app.people to rowgate_app`);
  });
  after(async () => {
    const { admin } = test;
    for (const role of [owner, clerk, odd]) {
      await admin.unsafe(`drop owned by ${quote(role)} cascade; drop role ${quote(role)}`);
    }
    await test.drop();
  });

  const examineApp = ({ environment = {}, ...options }: ExamineOptions = {}) =>
    examineDatabase(test, { ...options, environment: { ROWGATE_SCHEMA: "app", ...environment } });
  const find = async (options?: ExamineOptions) => findingsOf(await examineApp(options), CHECK);

  /** Runs statements that doctor prints; remarks are for a person. */
  async function mend(): Promise<void> {
    for (const { fix } of (await examineApp()).get(CHECK)!.findings) {
      for (const { kind, text } of readFix(fix)) {
        if (kind === "statement") await test.admin.unsafe(text);
      }
    }
  }

  it("finds nothing where only trusted roles may create [R68]", async () => {
    assertEquals(await find(), []);
    assertEquals((await examineApp()).get(CHECK)!.seen, "1 schema on it");
  });

  it("names a schema of the path in which others may create, as everyone may on Postgres 14 [R68]", async () => {
    await test.admin.unsafe(`grant create on schema public to public`);
    const everyone = (role: string) =>
      `warning: the role ${role} searches the schema public, where every role may create objects`;
    assertEquals(await find(), [everyone(owner), everyone("rowgate_app")]);
    await mend();
    assertEquals(await find(), []);
    await test.admin.unsafe(`grant create on schema public to ${quote(clerk)}, ${quote(odd)}`);
    const some =
      `warning: the role rowgate_app searches the schema public, where ${odd}, ${clerk} may create objects`;
    assertEquals((await find()).at(-1), some);
    await mend();
    assertEquals(await find(), []);
  });

  it("names the serving role where it may create on the path of an owner [R68]", async () => {
    await test.admin.unsafe(`grant create on schema public to rowgate_app`);
    assertEquals(await find(), [
      `warning: the role ${owner} searches the schema public, where rowgate_app may create objects`,
    ]);
    await mend();
    assertEquals(await find(), []);
  });

  it("reads the path of the role, of the database, of both and of the URL [R68]", async () => {
    const { admin } = test;
    const schemas = [`of, "role"`, "of database", "of both", "of url"];
    for (const schema of schemas) {
      await admin.unsafe(`create schema ${quote(schema)};
        grant create on schema ${quote(schema)} to ${quote(clerk)}`);
    }
    const [ofRole, ofDatabase, ofBoth, ofUrl] = schemas as [string, string, string, string];
    const searches = (role: string, schema: string) =>
      `warning: the role ${role} searches the schema ${schema}, where ${clerk} may create objects`;
    const serving = "rowgate_app";
    try {
      await admin.unsafe(
        `alter database ${database} set search_path = ${quote(ofDatabase)}, public`,
      );
      assertEquals(await find(), [searches(owner, ofDatabase), searches(serving, ofDatabase)]);
      await admin.unsafe(`alter role ${quote(owner)} set search_path = public, ${quote(ofRole)}`);
      assertEquals(await find(), [searches(owner, ofRole), searches(serving, ofDatabase)]);
      for (const role of [owner, serving]) {
        await admin.unsafe(`alter role ${quote(role)} in database ${database}
          set search_path = ${quote(ofBoth)}`);
      }
      assertEquals(await find(), [searches(owner, ofBoth), searches(serving, ofBoth)]);
      const url = new URL(test.servingUrl!);
      url.searchParams.set("options", `-c search_path="of\\ url"`);
      // As libpq reads it, where + is no space.
      const environment = { DATABASE_URL: url.href.replaceAll("+", "%20") };
      assertEquals(await find({ environment }), [
        searches(owner, ofBoth),
        searches(serving, ofUrl),
      ]);
      await mend();
      assertEquals(await find(), []);
    } finally {
      await admin.unsafe(`alter database ${database} reset search_path;
        alter role ${quote(owner)} reset search_path;
        alter role ${quote(owner)} in database ${database} reset search_path;
        alter role rowgate_app in database ${database} reset search_path`);
    }
  });

  it("names the schema of a role's own name if another role may create it [R68]", async () => {
    await test.admin.unsafe(`grant create on database ${database} to ${quote(clerk)}`);
    const missing = (role: string) =>
      `warning: the role ${role} searches the schema ${role}, which does not exist and which ${clerk} may create`;
    assertEquals(await find(), [missing(owner), missing("rowgate_app")]);
    await mend();
    assertEquals(await find(), []);
    await test.admin.unsafe(`drop schema ${quote(owner)}, rowgate_app;
      revoke create on database ${database} from ${quote(clerk)}`);
  });

  it("names a schema that belongs to another role, which REVOKE would not keep out [R68]", async () => {
    await test.admin.unsafe(`create schema theirs authorization ${quote(clerk)};
      grant create on schema theirs to ${quote(odd)};
      alter role rowgate_app in database ${database} set search_path = theirs`);
    try {
      const [finding] = (await examineApp()).get(CHECK)!.findings;
      assertEquals(
        finding?.what,
        `the role rowgate_app searches the schema theirs, where ${odd}, ${clerk} may create objects`,
      );
      assertEquals(readFix(finding!.fix), [
        { kind: "statement", text: `revoke create on schema "theirs" from ${quote(odd)};` },
        {
          kind: "remark",
          text: `leave theirs out of the search path of rowgate_app: it belongs to ${clerk}`,
        },
      ]);
    } finally {
      await test.admin.unsafe(`alter role rowgate_app in database ${database} reset search_path`);
    }
  });

  it("trusts superusers, and searches for them like for others [R68]", async () => {
    const [row] = await test.admin`select current_user as name`;
    await test.admin.unsafe(`alter table app.people owner to ${quote(row!.name)};
      grant create on schema public to ${quote(clerk)}`);
    try {
      assertEquals(
        await find(),
        [row!.name, "rowgate_app"].sort().map((role) =>
          `warning: the role ${role} searches the schema public, where ${clerk} may create objects`
        ),
      );
    } finally {
      await mend();
      await test.admin.unsafe(`alter table app.people owner to ${quote(owner)}`);
    }
  });
});
