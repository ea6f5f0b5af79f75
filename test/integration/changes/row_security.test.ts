// Row level security that hides rows: from feeds, and all of them from a service without its setting.
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openReader, type Reader } from "./reader.ts";

const SETTING = { environment: { ROWGATE_TENANT_SETTING: "app.tenant" } };
const OWN = "tenant_id = nullif(current_setting('app.tenant', true), '')::int4";
const SCHEMA = `
  create table plots (id int4 primary key, tenant_id int4 not null, secret bool default false, name text);
  create table parks (id int4 primary key, tenant_id int4 not null, name text);
  insert into plots select n, 1 + n % 2, n % 3 = 0, 'plot' from generate_series(1, 30) n;
  insert into parks select n, 1 + n % 2, 'park' from generate_series(1, 30) n;
  grant select, update on plots, parks to rowgate_app;
  alter table plots enable row level security;
  create policy own on plots using (${OWN} and not secret)`;

describe("row level security that hides rows", () => {
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    service = await createTestService("real", SETTING);
    await run(SCHEMA);
    await seen((tables) => tables.has("plots") && tables.has("parks"));
    await enableFeeds(service, ["plots", "parks"]);
    reader = openReader(service);
  });
  after(() => service.close());

  const seen = (is: (tables: ReadonlyMap<string, unknown>) => boolean, of = service) =>
    waitUntil(async () => {
      const before = await of.catalogue.current();
      await of.catalogue.refresh(before, { reason: "test" });
      return is((await of.catalogue.current()).tables);
    });

  it("hides them from the feed, which deletes only what was seen [CH25] [FD17] [FD16]", async () => {
    const told: string[] = [];
    let { cursor } = await reader.read("plots", "now");
    for (
      const statement of [
        "insert into plots values (101, 1, true), (102, 1, false)",
        "update plots set name = 'x' where id in (101, 102)",
        "update plots set secret = true where id in (101, 102)",
        "update plots set name = 'y' where id in (101, 102)",
        "update plots set secret = false where id = 101",
        "update plots set tenant_id = 2 where id in (101, 102)",
        "delete from plots where id > 100",
      ]
    ) {
      await run(statement);
      const page = await reader.read("plots", cursor);
      cursor = page.cursor;
      told.push(page.changes.map(({ type, key }) => `${type} ${key["id"]}`).join(", "));
    }
    assertEquals(told, [
      "upsert 102",
      "upsert 102",
      "delete 102",
      "",
      "upsert 101",
      "delete 101",
      "",
    ]);
  });

  it("is 410 for cursors when it is enabled or a policy changes, and never a delete [CH13] [FD16]", async () => {
    const { cursor } = await reader.read("parks", "now");
    await run("alter table parks enable row level security");
    await run("update parks set name = 'changed'");
    const enabled = await reader.ask("parks", cursor);
    assertEquals([enabled.status, enabled.text.includes("delete")], [410, false]);
    await run(
      `create policy other on parks using (${OWN}); alter table parks disable row level security`,
    );
    const { cursor: plots } = await reader.read("plots", "now");
    await run(`alter policy own on plots using (${OWN} and not secret and id < 1000)`);
    await run("update plots set name = 'changed'");
    assertEquals((await reader.ask("plots", plots)).status, 410);
  });

  it("keeps a table closed whose policies read a setting that is not made [T82] [FD16]", async () => {
    const { database } = service;
    for (
      const [environment, expected] of [
        [{}, /ROWGATE_TENANT_SETTING is not set/],
        [{ ROWGATE_TENANT_SETTING: "app.other" }, /ROWGATE_TENANT_SETTING is app\.other/],
      ] as const
    ) {
      const other = await createTestService("real", { database, environment });
      try {
        await seen((tables) => !tables.has("plots"), other);
        const { status } = await other.send("POST", "/integration/tables/plots/query", {
          body: {},
        });
        assertEquals(status, 404);
        const warnings = other.observations.flatMap((each) =>
          each.kind === "warning" && each.message.includes('"plots"') ? [each.message] : []
        );
        assertEquals(warnings.length, 1);
        assertMatch(warnings[0]!, /^table "plots": row level security hides its rows/);
        assertMatch(warnings[0]!, expected);
      } finally {
        await other.close();
      }
    }
  });

  /** Each, and whether the table is served where no setting is made. */
  const POLICIES: readonly (readonly [string, boolean])[] = [
    ["not secret", true],
    ["current_user = 'rowgate_app' and id < (extract(epoch from now()))", true],
    ["current_setting('server_version_num')::int4 > 1", true],
    ["public.is_shown(id)", true],
    ["public.is_of_tenant(tenant_id)", false],
    ["public.calls_it(tenant_id)", false],
    ["public.says_it_is_immutable(tenant_id)", false],
    ["tenant_id = current_setting('app.' || 'tenant')::int4", false],
  ];

  it("is no reason to close a table whose policies need no setting, whatever they call [T82]", async () => {
    await run(`
      create function public.is_shown(int4) returns bool stable language plpgsql as
        $$ begin return exists (select from public.parks where id = $1); end $$;
      create function public.is_of_tenant(int4) returns bool stable language sql as
        $$ select $1::text = current_setting('app.tenant', true) $$;
      create function public.calls_it(int4) returns bool stable language plpgsql as
        $$ begin return public.IS_OF_TENANT($1); end $$;
      create function public.says_it_is_immutable(int4) returns bool immutable language plpgsql as
        $$ begin return $1::text = current_setting('app.tenant', true); end $$`);
    const { database } = service;
    const other = await createTestService("real", { database, environment: {} });
    try {
      for (const [policy, isServed] of POLICIES) {
        await run(`alter policy own on plots using (${policy})`);
        await seen((tables) => tables.has("plots") === isServed, other);
      }
    } finally {
      await other.close();
    }
  });
});
