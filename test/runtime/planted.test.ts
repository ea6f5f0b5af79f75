import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { qualify } from "../../src/database/postgres/qualify.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { findPooler, type Pooler, startPooler } from "../support/pooler.ts";
import { readPages } from "../support/read_pages.ts";
import { type RecordingProxy, startRecordingProxy } from "../support/recording_proxy.ts";
import type { Runtime } from "../support/runtime_server.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { runRowgate } from "../integration/cli/run_rowgate.ts";

const OTHER = "22222222-2222-4222-8222-222222222222";
/** The type of the tenant column of each table; the second tenant's rows are the bait. */
const TENANTS = {
  by_varchar: "varchar(20)",
  by_domain: "code",
  by_int: "int4",
  by_uuid: "uuid",
};
const TYPES =
  "text varchar bpchar int2 int4 int8 uuid numeric float8 bool timestamptz timestamp date " +
  "jsonb text[] int4[] cidr inet int4range public.label public.code name oid bytea anyenum anyarray";
const FUNCTIONS =
  "lower(text) lower(varchar) upper(text) length(text) to_json(anyelement) to_jsonb(anyelement) " +
  "now() clock_timestamp() gen_random_uuid() current_setting(text) set_config(text,text,bool) " +
  "hashtextextended(text,int8) num_nulls(anyelement) unnest(anyarray) cardinality(anyarray) " +
  "octet_length(text) pg_notify(text,text) sha256(bytea) quote_ident(text) to_regclass(text) " +
  "pg_try_advisory_xact_lock(int8) json_typeof(json) jsonb_typeof(jsonb) concat(text,text) " +
  "has_table_privilege(oid,text) has_schema_privilege(oid,text) format(text,text) row_to_json(record)";

/** A schema in which a role has planted what fits better than the built-in operators and functions. */
function plant(): string {
  const raise = "language plpgsql as 'begin raise exception ''planted''; end'";
  const operators = TYPES.split(" ").flatMap((type, at) => [
    `create function hostile.op${at}(${type}, ${type}) returns bool ${raise};`,
    ...["=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "@>", "&&"].map((name) =>
      `create operator hostile.${name} (leftarg = ${type}, rightarg = ${type}, function = hostile.op${at});`
    ),
    `create function hostile.add${at}(${type}, ${type}) returns ${type} ${raise};`,
    ...["+", "-", "||"].map((name) =>
      `create operator hostile.${name} (leftarg = ${type}, rightarg = ${type}, function = hostile.add${at});`
    ),
  ]);
  const functions = FUNCTIONS.split(" ").map((name) =>
    `create function hostile.${name} returns text ${raise};`
  );
  const aggregates = [
    "count(anyelement)",
    "json_agg(anyelement)",
    "max(text)",
    "min(text)",
    "bool_or(bool)",
  ]
    .map((name) => {
      const type = /\((.*)\)/.exec(name)![1];
      const of = name.slice(0, name.indexOf("("));
      return `create function hostile.add_${of}(text, ${type}) returns text ${raise};
        create aggregate hostile.${name} (sfunc = hostile.add_${of}, stype = text, initcond = '');`;
    });
  return `create schema hostile; grant usage on schema hostile to public;
    create type public.label as enum ('1', '2');
    create domain public.code as text;
    ${[...operators, ...functions, ...aggregates].join("\n")}
    create domain hostile.jsonb as text; create domain hostile.int8 as text;
    create domain hostile.regclass as text; create domain hostile.timestamptz as text;`;
}

const TABLES = Object.entries(TENANTS).map(([table, type]) => {
  const [one, two] = type === "uuid" ? ["11111111-1111-4111-8111-111111111111", OTHER] : ["1", "2"];
  return `create table ${table} (id int4 primary key, tenant_id ${type} not null, name varchar(20),
      mood label, tags text[], net cidr, span int4range, code code, amount numeric, doc jsonb,
      changed timestamptz default now());
    insert into ${table} select n, case when n % 2 = 0 then '${one}' else '${two}' end::${type},
      case when n % 2 = 0 then 'n' || n else 'BAIT' end, '1', array['t' || n],
      ('10.0.' || n || '.0/24')::cidr, int4range(n, n + 1), 'c' || n, n, '{"a": 1}'
      from generate_series(1, 8) n;
    create index on ${table} (tenant_id);`;
}).join("\n");

const CONDITIONS: readonly (readonly [string, string, unknown])[] = [
  ["name", "eq", "n2"],
  ["name", "in", ["n2", "n4"]],
  ["name", "like", "n%"],
  ["name", "ilike", "N%"],
  ["name", "starts_with", "n"],
  ["name", "between", ["a", "z"]],
  ["mood", "eq", "1"],
  ["mood", "gte", "1"],
  ["tags", "contains", ["t2"]],
  ["tags", "eq", "{t2}"],
  ["net", "eq", "10.0.2.0/24"],
  ["span", "contains", 2],
  ["code", "eq", "c2"],
  ["amount", "lt", 5],
  ["changed", "gt", "2001-01-01T00:00:00Z"],
  ["id", "not_in", [6]],
];

const OWN_PATH = "hostile, public, pg_catalog";
const program = await findPooler();

const WAYS: readonly { readonly way: "direct" | "pooler"; readonly runtime?: Runtime }[] = [
  { way: "direct" },
  ...program === undefined ? [] : [
    { way: "pooler" } as const,
    { way: "pooler", runtime: "node" } as const,
    { way: "pooler", runtime: "bun" } as const,
  ],
];

for (const { way, runtime } of WAYS) {
  const on = runtime === undefined ? "" : ` on ${runtime}`;
  describe(`a service with a hostile schema first on its search path (${way}${on})`, () => {
    let database: TestDatabase;
    let service: TestService;
    let pooler: Pooler | undefined;
    let proxy: RecordingProxy;
    let ownerUrl: string;
    let uuidToken: string;

    before(async () => {
      database = await createTestDatabase("real", "empty");
      await database.admin.unsafe(plant());
      await database.admin.unsafe(`set search_path = public; ${TABLES}
        grant select, update on all tables in schema public to rowgate_app`);
      const [row] = await database.admin`select current_database() as name`;
      await database.admin.unsafe(
        `alter role rowgate_app in database "${row!.name}" set search_path = ${OWN_PATH}`,
      );
      proxy = await startRecordingProxy(database.url!);
      const url = new URL(proxy.through(database.url!));
      ownerUrl = `${url.href}?options=${
        encodeURIComponent(`-c search_path=${OWN_PATH.replaceAll(" ", "")}`)
      }`;
      assertEquals((await runRowgate(["setup"], { DATABASE_URL: ownerUrl })).code, 0);
      const tables = Object.keys(TENANTS);
      const enabled = await runRowgate(["changes", "enable", ...tables], {
        DATABASE_URL: ownerUrl,
      });
      assertEquals(enabled.code, 0, enabled.err);
      await database.admin.unsafe(
        `grant usage on schema rowgate to rowgate_app;
        grant select, insert, update, delete on all tables in schema rowgate to rowgate_app`,
      );
      service = await createTestService("real", {
        database,
        runtime,
        policy: { tables: {} },
        environment: { ROWGATE_AUDIT: "on", ...(way === "pooler" && { ROWGATE_PREPARE: "off" }) },
        route: async (serving) => {
          const recorded = proxy.through(serving);
          if (way === "direct") return recorded;
          pooler = await startPooler(program!, recorded);
          return pooler.through(recorded);
        },
      });
      uuidToken = await service.issue({ tenant: "11111111-1111-4111-8111-111111111111" });
    });
    after(async () => {
      await service?.close();
      await pooler?.stop();
      await proxy?.stop();
      await database.drop();
    });

    const tokenOf = (table: string) => table === "by_uuid" ? uuidToken : service.tokens.a;
    const send = async (
      table: string,
      method: string,
      path: string,
      body?: unknown,
      accept = "*/*",
    ) => {
      const options = {
        token: tokenOf(table),
        headers: { Accept: accept },
        ...(body !== undefined && { body }),
      };
      const response = await service.send(method, `/integration/tables/${table}/${path}`, options);
      assertEquals(
        response.status,
        200,
        `${table} ${path} ${JSON.stringify(body)}: ${response.text}`,
      );
      assert(!/BAIT|planted/.test(response.text), response.text);
      return response;
    };

    it("finds the tenant's own rows alone, with each operator and page by page [TE25]", async () => {
      for (const table of Object.keys(TENANTS)) {
        const all = await send(table, "POST", "query", {});
        assertEquals((all.body["records"] as unknown[]).length, 4, table);
        for (const [field, op, value] of CONDITIONS) {
          const filters = { and: [{ field, op, value }] };
          const sort = [{ field: "name" }, { field: "amount", direction: "desc" }];
          const { body } = await send(table, "POST", "query", { filters, sort });
          assert((body["records"] as unknown[]).length > 0, `${table} ${field} ${op}`);
        }
        const sort = [{ field: "mood" }, { field: "name", direction: "desc" }];
        const rows = await readPages(service.send, {
          table,
          body: { sort, per_page: 1 },
          token: tokenOf(table),
        });
        assertEquals(rows.map(({ name }) => name), ["n8", "n6", "n4", "n2"]);
        await send(table, "POST", "query", {}, "application/x-ndjson");
        await send(table, "GET", "fields");
      }
    });

    it("updates the tenant's own rows alone, and feeds report no others [TE25]", async () => {
      for (const table of Object.keys(TENANTS)) {
        const { body: feed } = await send(table, "GET", "changes");
        const fields = { tags: ["new"], mood: "2", doc: { b: 2 } };
        await send(table, "PATCH", "records/single", { filters: { name: "n2" }, fields });
        await send(table, "PATCH", "records/bulk", {
          filters: { mood: "1" },
          fields: { code: "x" },
        });
        const updates = [4, 6].map((id) => ({ filters: { id }, fields: { amount: "1.50" } }));
        await send(table, "PATCH", "records/batch", { updates });
        const { body } = await send(table, "GET", `changes?since=${feed["cursor"]}`);
        assertEquals((body["changes"] as unknown[]).length, 4, table);
        const [row] = await database.admin.unsafe(
          `select count(*)::int4 as n from ${table} where name = 'BAIT' and code <> 'x' and mood = '1'`,
        );
        assertEquals(row!.n, 4, table);
      }
    });

    if (runtime === undefined) {
      it("calls nothing that was planted from the owner's commands [TE25]", async () => {
        for (
          const args of [
            ["setup"],
            ["token", "create", "--tenant", "1", "--name", "x"],
            ["token", "list"],
            ["tables"],
            ["changes", "status"],
            ["audit"],
            ["doctor"],
          ]
        ) {
          const { code, out, err } = await runRowgate(args, { DATABASE_URL: ownerUrl });
          assert(!/planted|could not be examined/.test(out + err), out + err);
          assertEquals(code, args[0] === "doctor" ? 1 : 0, err);
        }
      });

      it("would run what was planted in a statement without schemas [TE25]", async () => {
        const session = await database.admin.reserve();
        try {
          await session.unsafe(`set search_path = ${OWN_PATH}`);
          for (const text of ["select id from by_varchar where tenant_id = '1'", "select now()"]) {
            await assertRejects(() => session.unsafe(text), Error, "planted");
          }
        } finally {
          await session.unsafe("reset search_path");
          session.release();
        }
      });

      it("makes the schema rowgate out of built-in operators and functions alone [TE25]", async () => {
        const rows = await database.admin`
        with planted as (
          select oid from pg_proc where pronamespace = 'hostile'::regnamespace
          union all select oid from pg_operator where oprnamespace = 'hostile'::regnamespace
          union all select oid from pg_type where typnamespace = 'hostile'::regnamespace)
        select pg_describe_object(d.classid, d.objid, d.objsubid) as what from pg_depend d
        where d.refobjid in (select oid from planted) and d.objid not in (select oid from planted)`;
        assertEquals(rows.map(({ what }) => what), []);
      });
    }

    it("sends no statement in which an operator or function lacks its schema [TE25]", () => {
      const queries = [...proxy.texts].filter((text) =>
        /^(?:select|with|values|insert|update|delete|explain)\b/.test(text)
      );
      assert(queries.length > 20, String(proxy.texts.size));
      // It may put an operand in parentheses once more.
      const strip = (text: string) => text.replaceAll(/[()\s]/g, "");
      for (const text of queries) assertEquals(strip(qualify(text)), strip(text));
    });
  });
}
