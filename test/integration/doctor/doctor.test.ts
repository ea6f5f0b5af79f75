import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { examineDatabase, findingsOf } from "./examine_database.ts";
import { readFix } from "./read_fix.ts";

const HEALTHY = `
create table people (tenant_id int4 not null, id int4, name text, primary key (tenant_id, id));
create table notes (tenant_id int4 not null, id int4, person int4, body text,
  primary key (tenant_id, id), foreign key (tenant_id, person) references people);
insert into people select t, n, 'p' || n from generate_series(1, 3) t, generate_series(1, 4) n;
insert into notes select tenant_id, id, id, 'b' from people;
`;

const SICK = `
create table people (id int4 primary key, tenant_id int4, name text, "bad-name" text, api_key text,
  secret_score int4);
create table visits (id int4 primary key, tenant_id int4 not null,
  person int4 constraint visits_person references people, companion int4 references people);
create index on visits (tenant_id);
create table "odd name" (id int4, tenant_id int4);
insert into people values (1, 1, 'a'), (2, 2, 'b'), (3, null, 'c');
insert into visits values (1, 1, 1, 1), (2, 2, 1, 2);
`;

/** Only a real server has an owner and a serving role that differ. */
const ON_REAL = `
grant select, update on all tables in schema public to rowgate_app;
`;

for (const kind of DATABASE_KINDS) {
  describe(`doctor (${kind})`, () => {
    let healthy: TestDatabase;
    let sick: TestDatabase;

    before(async () => {
      healthy = await createTestDatabase(kind, "empty");
      await healthy.admin.unsafe(HEALTHY);
      sick = await createTestDatabase(kind, "empty");
      await sick.admin.unsafe(SICK);
      if (kind === "real") {
        await healthy.admin.unsafe(ON_REAL);
        await sick.admin.unsafe(ON_REAL);
        await sick.admin.unsafe(`grant truncate, delete on people to rowgate_app`);
      }
    });
    after(async () => {
      await healthy.drop();
      await sick.drop();
    });

    it("finds nothing in a sound setup except in the settings of the tests' own server", async () => {
      const found = await examineDatabase(healthy);
      // The tests' cluster does not survive a crash, to be fast.
      const unsafe = kind === "real" ? ["error: synchronous_commit or fsync is off"] : [];
      assertEquals(findingsOf(found, "server"), unsafe);
      for (const name of found.keys()) {
        if (name !== "server") assertEquals(findingsOf(found, name), [], name);
      }
      assertEquals(found.get("isolation")!.seen, "2 tables probed from both sides");
      assertMatch(found.get("server")!.seen, /^PostgreSQL \d+/);
    });

    it("finds a nullable tenant column and rows without tenant, and prints the statement", async () => {
      const { findings } = (await examineDatabase(sick)).get("rows without tenant")!;
      assertEquals(findings.map(({ what }) => what), ["people has rows whose tenant_id is NULL"]);
      assertMatch(
        findings[0]!.fix,
        /alter table "public"\."people" alter column "tenant_id" set not null;$/,
      );
      await sick.admin`delete from visits`;
      await sick.admin`delete from people where tenant_id is null`;
      const later = await examineDatabase(sick);
      assertEquals(findingsOf(later, "rows without tenant"), [
        "warning: people.tenant_id may be NULL",
      ]);
      await sick.admin`insert into people values (3, null, 'c')`;
      await sick.admin`insert into visits values (1, 1, 1, 1), (2, 2, 1, 2)`;
    });

    it("finds a table without an index by tenant, and its statement creates one", async () => {
      const unindexed = (await examineDatabase(sick)).get("indexes by tenant")!;
      assertEquals(unindexed.findings.map(({ what }) => what), [
        "no index of people begins with tenant_id",
      ]);
      const { fix } = unindexed.findings[0]!;
      assertEquals(fix, 'create index concurrently on "public"."people" ("tenant_id", "id");');
      await sick.admin.unsafe(fix);
      assertEquals(findingsOf(await examineDatabase(sick), "indexes by tenant"), []);
      await sick.admin`drop index people_tenant_id_id_idx`;
    });

    it("finds references that cross tenants, and those that the policy lets cross [TE11] [T84]", async () => {
      const crossing =
        "error: rows of visits refer to rows of people that belong to another tenant (visits_person)";
      assertEquals(findingsOf(await examineDatabase(sick), "foreign keys"), [crossing]);
      const policy = { tables: { visits: { cross_tenant_columns: ["companion"] } } };
      assertEquals(findingsOf(await examineDatabase(sick, { policy }), "foreign keys"), [
        "warning: visits may refer to any tenant's rows of people (visits_companion_fkey)",
        crossing,
      ]);
    });

    it("finds values that are unique across all tenants, where an update could try them out", async () => {
      await sick.admin`create unique index people_name on people (name)`;
      await sick.admin`create unique index people_by_tenant on people (tenant_id, name)`;
      const { findings } = (await examineDatabase(sick)).get("unique keys")!;
      assertEquals(findings.map(({ what }) => what), [
        "name of people must be unique across all tenants (people_name)",
      ]);
      await sick.admin`drop index people_name, people_by_tenant`;
    });

    it("finds triggers that run with their owner's rights", async () => {
      await sick.admin.unsafe(`
        create function note_change() returns trigger language plpgsql security definer
          as 'begin return new; end';
        create trigger noted before update on people for each row execute function note_change();
        create trigger inserted before insert on people for each row execute function note_change()`);
      // The embedded database has one role, which may do all.
      const isReal = kind === "real";
      if (isReal) await sick.admin`grant insert, delete on people to rowgate_app`;
      const found = await examineDatabase(sick);
      assertEquals(findingsOf(found, "triggers"), [
        "warning: a create of people runs note_change() with its owner's rights",
        "warning: an update of people runs note_change() with its owner's rights",
      ]);
      if (isReal) await sick.admin`revoke insert, delete on people from rowgate_app`;
      await sick.admin.unsafe(found.get("triggers")!.findings[0]!.fix);
      assertEquals(findingsOf(await examineDatabase(sick), "triggers"), []);
      await sick.admin`drop function note_change() cascade`;
    });

    it("finds exposed columns that look like credentials, and not numbers about them", async () => {
      const found = await examineDatabase(sick);
      assertEquals(findingsOf(found, "credentials"), [
        "warning: people.api_key is exposed and looks like a credential",
      ]);
      const policy = { tables: { people: { hidden_columns: ["api_key"] } } };
      assertEquals(
        found.get("credentials")!.findings[0]!.fix,
        `in the policy file: ${JSON.stringify(policy)}`,
      );
      assertEquals(findingsOf(await examineDatabase(sick, { policy }), "credentials"), []);
    });

    it("finds a table without key, and the policy that it prints gives it one", async () => {
      await sick.admin.unsafe(`
        create table stamps (tenant_id int4 not null, stream text not null, no int4 not null);
        create index on stamps (tenant_id)`);
      if (kind === "real") await sick.admin`grant select on stamps to rowgate_app`;
      const found = (await examineDatabase(sick)).get("exposed tables")!.findings;
      const [finding] = found.filter(({ id }) => id === "no_key:stamps");
      assertEquals(finding?.what, "stamps has no primary key");
      const [line] = readFix(finding!.fix);
      assertEquals(line!.kind, "policy");
      const policy = JSON.parse(line!.text.replace('"…"', '"stream","no"'));
      const left = (await examineDatabase(sick, { policy })).get("exposed tables")!.findings;
      assertEquals(left.filter(({ id }) => id === "no_key:stamps"), []);
      await sick.admin`drop table stamps`;
    });

    it("prints nothing behind a comment that a name with a line break could bring in [CF21]", async () => {
      const name = `"a\n; drop table visits; --"`;
      await sick.admin.unsafe(`alter table people add column ${name} int4;
        create unique index ${name} on people (${name}, secret_score)`);
      const found = await examineDatabase(sick);
      const fixes = found.get("unique keys")!.findings
        .filter(({ fix }) => fix.includes("drop table visits"));
      assertEquals(fixes.length, 1);
      for (const { fix } of fixes) {
        const typed = fix.replace(/^in the policy file.*\n/, "").replace("concurrently ", "");
        await sick.admin.unsafe(`${typed}\nselect 1`);
      }
      const [row] = await sick.admin`select to_regclass('visits') is not null as there`;
      assertEquals(row!.there, true);
      await sick.admin.unsafe(`alter table people drop column ${name}`);
    });

    it("finds a view that bypasses row level security", async () => {
      await sick.admin.unsafe(`
        create view names as select id, tenant_id, name from people;
        create view beneath as select * from names;
        alter table people enable row level security;`);
      if (kind === "real") await sick.admin.unsafe(`grant select on names, beneath to rowgate_app`);
      const expose = { expose: true };
      const policy = { tables: { beneath: expose, names: expose } };
      const bypasses = (view: string) =>
        `error: the view ${view} bypasses row level security of people`;
      assertEquals(findingsOf(await examineDatabase(sick, { policy }), "views"), [
        bypasses("beneath"),
        bypasses("names"),
      ]);
      await sick.admin.unsafe(`alter view names set (security_invoker = true);
        alter view beneath set (security_invoker = true)`);
      assertEquals(findingsOf(await examineDatabase(sick, { policy }), "views"), []);
      await sick.admin.unsafe(
        `alter table people disable row level security; drop view beneath, names`,
      );
    });

    it("finds rows that a token reads although they belong to another tenant", async () => {
      await healthy.admin.unsafe(
        `create table leaking (tenant_id int4 not null, region int4, x int4);
        create index on leaking (tenant_id);
        insert into leaking values (1, 1, 1), (2, 1, 2), (1, 2, 3), (2, 2, 4);`,
      );
      if (kind === "real") await healthy.admin`grant select, update on leaking to rowgate_app`;
      // Scoped by the wrong column, as by a bug in Rowgate.
      const found = await examineDatabase(healthy, {
        change: (catalogue) => {
          const leaking = catalogue.tables.get("leaking")!;
          const region = leaking.columns.get("region")!;
          const tenant = { ...leaking.tenant!, identifier: region.identifier };
          const scoped = { ...leaking, tenant, tenancy: { columns: [tenant], via: [] } };
          const tables = new Map(catalogue.tables).set("leaking", scoped);
          return { ...catalogue, tables };
        },
      });
      const kinds = new Set(findingsOf(found, "isolation"));
      assertEquals([...kinds].sort(), [
        "error: a token could read another tenant's row of leaking by a page without filters",
        "error: a token could read another tenant's row of leaking by the tenant column",
        "error: a token could update another tenant's row of leaking (rolled back)",
      ]);
      assertEquals([...await healthy.admin`select sum(x)::text as sum from leaking`], [{
        sum: "10",
      }]);
      await healthy.admin`drop table leaking`;
    });

    if (kind !== "real") return;

    it("prints what makes a server keep what it acknowledges, one statement a line [CF21]", async () => {
      const [finding] = (await examineDatabase(healthy)).get("server")!.findings;
      assertEquals(finding!.id, "durability");
      const set = async () => {
        const rows = await healthy.admin`select name || '=' || setting as line from pg_file_settings
          where sourcefile ~ 'auto.conf$' order by 1`;
        return rows.map(({ line }) => line);
      };
      assertEquals(await set(), []);
      // The tests' cluster has its settings from the command line, which go before these.
      for (const { kind, text } of readFix(finding!.fix)) {
        assertEquals(kind, "statement");
        await healthy.admin.unsafe(text);
      }
      try {
        assertEquals(await set(), ["fsync=on", "synchronous_commit=on"]);
      } finally {
        await healthy.admin.unsafe("alter system reset fsync");
        await healthy.admin.unsafe("alter system reset synchronous_commit");
      }
    });

    it("takes back a setting where it was made: for the database, or a role in it [CF21]", async () => {
      const [{ name } = { name: "" }] = await healthy.admin`select current_database() as name`;
      const fixOf = async (environment = {}) => {
        const { findings } = (await examineDatabase(healthy, { environment })).get("server")!;
        return findings.find(({ id }) => id === "durability")!.fix.split("\n");
      };
      const settings = async () =>
        (await healthy.admin`select setconfig::text as found from pg_db_role_setting s
          join pg_database d on d.oid = s.setdatabase where d.datname = current_database()
            and setconfig::text like '%synchronous_commit%'`).map(({ found }) => found);
      for (const place of [`database ${name}`, `role rowgate_app in database ${name}`]) {
        await healthy.admin.unsafe(`alter ${place} set synchronous_commit = off`);
        assertEquals((await settings()).length, 1);
        // The tests' cluster has fsync off as well.
        const [file, statement, reload] = await fixOf();
        assertEquals([file, statement, reload], [
          "alter system set fsync = on;",
          `alter ${place} reset synchronous_commit;`,
          "select pg_catalog.pg_reload_conf();",
        ]);
        await healthy.admin.unsafe(statement!);
        assertEquals(await settings(), []);
      }
      const url = new URL(healthy.servingUrl!);
      url.search = "?options=-c%20synchronous_commit%3Doff";
      const [, advice] = await fixOf({ DATABASE_URL: url.href });
      assertEquals(advice, "leave synchronous_commit out of the options of DATABASE_URL");
    });

    it("reports what it may not examine", async () => {
      await sick.admin`revoke select (person) on visits from rowgate_app`;
      await sick.admin`revoke select on visits from rowgate_app`;
      await sick.admin`grant select (id, tenant_id) on visits to rowgate_app`;
      assertEquals(findingsOf(await examineDatabase(sick), "foreign keys"), [
        ...["visits_companion_fkey", "visits_person"].map((key) =>
          `warning: visits.${key} could not be examined: the database role may not read what this needs`
        ),
      ]);
      await sick.admin`grant select on visits to rowgate_app`;
    });

    it("finds what the serving role should not be or be able to do [R39]", async () => {
      assertEquals(findingsOf(await examineDatabase(sick), "serving role"), [
        "warning: the role rowgate_app may truncate people",
      ]);
      const asSuperuser = { ...sick, servingUrl: sick.url };
      const [found] = findingsOf(await examineDatabase(asSuperuser), "serving role");
      assertMatch(found!, /^error: the role \w+ is a superuser$/);

      await sick.admin`create table owned (tenant_id int4)`;
      await sick.admin`grant create on schema public to rowgate_app`;
      await sick.admin`alter table owned owner to rowgate_app`;
      assertEquals(
        findingsOf(await examineDatabase(sick), "serving role")[0],
        "error: the role rowgate_app owns owned",
      );
      await sick.admin`drop table owned`;
    });

    it("prints what takes from the serving role what it should not have [R39] [CF21]", async () => {
      // Roles are the cluster's, which other tests use as well: one of its own.
      const role = `above_${crypto.randomUUID().replaceAll("-", "")}`;
      await healthy.admin.unsafe(`create role ${role} login password 'above' bypassrls;
        grant pg_read_all_data, pg_write_all_data to ${role}`);
      try {
        const servingUrl = healthy.servingUrl!.replace(/\/\/[^@]+@/, `//${role}:above@`);
        const look = async () =>
          (await examineDatabase({ ...healthy, servingUrl })).get("serving role")!.findings;
        const found = await look();
        assertEquals(found.map(({ id }) => id), [
          "bypass_row_security",
          "role_member:pg_read_all_data",
          "role_member:pg_write_all_data",
        ]);
        for (const { kind, text } of found.flatMap(({ fix }) => readFix(fix))) {
          assertEquals(kind, "statement");
          await healthy.admin.unsafe(text);
        }
        assertEquals(await look(), []);
      } finally {
        await healthy.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
      }
    });

    it("finds a server that accepts no writes, and a pool with more connections than it allows", async () => {
      const url = new URL(healthy.servingUrl!);
      url.search = "?options=-c%20default_transaction_read_only%3Don";
      const environment = { DATABASE_URL: url.href, ROWGATE_POOL_SIZE: "999" };
      const found = findingsOf(await examineDatabase(healthy, { environment }), "server").slice(1);
      assertEquals(found[0], "warning: the server accepts no writes: it is a standby or read-only");
      assertMatch(
        found[1] ?? "",
        /^warning: the pool needs 1001 connections, the server allows \d+$/,
      );
      const some = { environment: { ROWGATE_POOL_SIZE: "8" }, workers: 500 };
      const [, workers] = (await examineDatabase(healthy, some)).get("server")!.findings;
      assertMatch(workers!.what, /^500 workers need 1500 connections, the server allows \d+$/);
      assertMatch(workers!.fix, /^ROWGATE_POOL_SIZE=1, or fewer ROWGATE_WORKERS$/);
    });
  });
}
