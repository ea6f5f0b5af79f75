// The feed of a table whose policies have many forms: they are applied to what rows were before.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { explainReach } from "../../../src/feeds/changes/table_scope.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { runRowgate } from "../cli/run_rowgate.ts";
import { openReader, type Reader } from "./reader.ts";

const OWN = "tenant_id = nullif(current_setting('app.tenant', true), '')::int4";
const SCHEMA = `
  create schema rules;
  grant usage on schema rules to rowgate_app;
  create type public.mood as enum ('open', 'shut');
  create function public.is_open(text) returns bool immutable language sql as $$ select $1 <> 'hid' $$;
  create function rules.differs(text, text) returns bool immutable language sql as $$ select $1 <> $2 $$;
  create operator rules.<!> (function = rules.differs, leftarg = text, rightarg = text);
  create function public.raise_for(text) returns bool stable language plpgsql as
    $$ begin if $1 = 'hid' then raise exception 'no'; end if; return true; end $$;
  create table others (id int4 primary key);
  create table yards (id int4 primary key, tenant_id int4 not null, name text not null,
    mood public.mood not null default 'open', created timestamp not null default '2024-05-06',
    price numeric not null default 2);
  grant select, update on yards, others to rowgate_app;
  alter table yards enable row level security;
  create policy own on yards using (${OWN})`;

/** Each hides the rows with the name `hid`, and shows those with the name `vis`. */
const FORMS = [
  "name <> 'hid'",
  "public.is_open(name)",
  "name operator(rules.<!>) 'hid'",
  "substring(name, 1, 1) = 'v'",
  "name !~ E'^h\\\\w+\\\\x27?$'",
  "name <> E'hid' and name <> E'it''s \\\\\\\\'",
  "not (name = any (array['hid', 'E''s', '\"Q\"']))",
  "name not in ('hid', 'hidden') or name is null",
  "case name when 'hid' then false else true end",
  "(select current_setting('app.tenant', true)) is not null and name <> 'hid'",
  "name::varchar(2) = 'vi' and created < '2030-01-01'::timestamp",
  "'2000-01-01 00:00:00+00'::timestamptz < created and name like 'v%'",
  "date_part('year', created) > 2000 and upper(name) collate \"C\" <> 'HID'",
  "coalesce(nullif(name, 'hid'), '') <> '' and price between 1 and 3 and mood = 'open'",
  "name is distinct from 'hid' and (price)::double precision + 1 > - 1",
  "(name, price) <> ('hid', 2::numeric) and length(name || 'x') > 1",
  "trim(both from name) <> 'hid' and trim(leading 'h' from name) <> 'id'",
  "trim(both 'x' from upper(trim(trailing from name || ' '))) <> 'HID'",
  "position('h' in name || '') = 0",
  "overlay(name placing 'x' from 1 for 1) = 'xis' and overlay(name placing 'x' from 2) = 'vxs'",
  "substring(name from 1 for 1) = 'v' and substring(name from '.i') = 'vi'",
  "substring(name similar 'v#\"i#\"s' escape '#') = 'i'",
  "normalize(name, nfkc) <> 'hid' and normalize(name) is normalized",
  "extract(year from created) > 2000 and name is distinct from 'hid'",
  "(select current_setting('app.tenant', true)) is not null and trim(name) is distinct from 'hid'",
  "created at time zone 'UTC' > '2000-01-01 00:00:00+00' and name <> 'hid'",
  "json_build_array(name) ->> 0 <> 'hid'",
  "name similar to 'v%' and name between 'v' and 'w'",
  "(string_to_array('vis,x', ','))[1] = name and array[name] <@ array['vis', 'wis']",
  "(created, created + interval '1 day') overlaps (created, created) and name <> 'hid'",
  "name <> 'hid' and current_user = session_user and pg_has_role('rowgate_app', 'usage')",
];

describe("the feed of a table with policies", () => {
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_TENANT_SETTING: "app.tenant" },
    });
    await run(SCHEMA);
    await waitUntil(async () => (await look()).has("yards"));
    await enableFeeds(service, ["yards"]);
    reader = openReader(service);
  });
  after(() => service?.close());

  /** Has the service see what was changed. */
  async function look() {
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    return (await service.catalogue.current()).tables;
  }

  /** Changes the policies, for which the feed has to log other columns. */
  async function change(text: string): Promise<void> {
    const before = (await look()).get("yards")!.rowSecurity!.condition;
    await run(text);
    await waitUntil(async () => (await look()).get("yards")!.rowSecurity!.condition !== before);
    await enableFeeds(service, ["yards"]);
  }

  /** Says what the feed gives of rows that were visible and hidden, and are deleted. */
  async function followDeletes(): Promise<string> {
    await run("insert into yards values (1, 1, 'vis'), (2, 1, 'hid')");
    const { cursor } = await reader.read("yards", "now");
    await run("delete from yards");
    const { changes } = await reader.read("yards", cursor);
    return changes.map(({ type, key }) => `${type} ${key["id"]}`).join();
  }

  it("applies conditions of every form that names the row and the tenant alone [CH25] [FD16]", async () => {
    const wrong: unknown[] = [];
    for (const form of FORMS) {
      await change(`alter policy own on yards using (${OWN} and (${form}))`);
      const deletes = await followDeletes().catch(String);
      await run("delete from yards");
      if (deletes !== "delete 1") wrong.push([form, deletes]);
    }
    assertEquals(wrong, []);
  });

  it("applies restrictive policies, and none that are for other roles [CH25] [FD16]", async () => {
    await change(`alter policy own on yards using (${OWN})`);
    assertEquals(await followDeletes(), "delete 1,delete 2");
    await change("create policy narrow on yards as restrictive using (name <> 'hid')");
    assertEquals(await followDeletes(), "delete 1");
    await run("create policy wide on yards to pg_monitor using (true)");
    await run("create policy strict on yards as restrictive to pg_monitor using (false)");
    await look();
    assertEquals(await followDeletes(), "delete 1");
    await change("drop policy narrow on yards");
    assertEquals(await followDeletes(), "delete 1,delete 2");
    await run("drop policy wide on yards; drop policy strict on yards");
  });

  it("is no 500 and names no row where a policy fails [CH25] [FD16]", async () => {
    await change(`alter policy own on yards using (${OWN} and public.raise_for(name))`);
    for (const code of ["P0001", "XX000", "57014", "40001", "53400", "25006", "55000", "0A000"]) {
      await run(`create or replace function public.raise_for(text) returns bool stable
        language plpgsql as $$ begin
          if $1 = 'hid' then raise exception 'no' using errcode = '${code}'; end if; return true;
        end $$;
        insert into yards values (3, 1, 'vis')`);
      const { cursor } = await reader.read("yards", "now");
      await run("update yards set name = 'hid' where id = 3");
      for (const since of [cursor, "start"]) {
        const { status, text } = await reader.ask("yards", since);
        assert(status >= 400 && status !== 500, `${code}: ${status} ${text}`);
      }
      await run("delete from yards");
      const { status, text } = await reader.ask("yards", cursor);
      assert(status !== 500 && !text.includes('"delete"'), `${code}: ${status} ${text}`);
    }
  });

  it("is incomplete while a policy reads more than the row, which enable and doctor say [CH2] [CH21] [CH25]", async () => {
    for (
      const [condition, reason] of [
        ["exists (select from others where others.id = yards.id)", /reads the table others/],
        ["created < now()", /depends on the time/],
        ["name in (select unnest(array['vis']))", undefined],
        ["name in (select n from unnest(array['vis']) n)", /has a subquery with rows/],
        ["yards is not null", /works on the table alone/],
        ["public.raise_for(name)", /calls functions/],
      ] as const
    ) {
      await change(`alter policy own on yards using (${OWN} and ${condition})`);
      const table = (await look()).get("yards")!;
      const reach = explainReach(table) ?? "";
      if (reason === undefined) assertEquals(reach, "", condition);
      else assertMatch(reach, reason);
      const isRead = reason === undefined || String(reason).includes("functions");
      assertEquals([condition, (await reader.ask("yards", "now")).status], [
        condition,
        isRead ? 200 : 404,
      ]);
    }
    await change(`alter policy own on yards using (${OWN} and created < now())`);
    const url = (text: string | undefined) => ({
      DATABASE_URL: text!,
      ROWGATE_TENANT_SETTING: "app.tenant",
    });
    const { url: owner, servingUrl } = service.database;
    const enabled = await runRowgate(["changes", "enable", "yards"], url(owner));
    assertMatch(enabled.err, /Warning: the table yards: a policy depends on the time/);
    const doctor = await runRowgate(["doctor"], url(servingUrl));
    assertMatch(doctor.out, /cannot tell which rows clients saw: a policy depends on the time/);
  });

  it("is incomplete for status and doctor as well while it does not log what a policy names [CH2] [CH21] [CH25]", async () => {
    await change(`alter policy own on yards using (${OWN})`);
    await run(`alter policy own on yards using (${OWN} and price > 0)`);
    const environment = {
      DATABASE_URL: service.database.url!,
      ROWGATE_TENANT_SETTING: "app.tenant",
    };
    const status = await runRowgate(["changes", "status"], environment);
    assertEquals(status.code, 1);
    assertMatch(status.out, /yards +INCOMPLETE: enable it again/);
    const doctor = await runRowgate(["doctor"], environment);
    assertMatch(doctor.out, /the feed of the table yards does not catch every change/);
    assertEquals((await runRowgate(["changes", "enable", "yards"], environment)).code, 0);
    assertEquals((await runRowgate(["changes", "status"], environment)).code, 0);
  });
});
