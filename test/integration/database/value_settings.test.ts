import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { VALUE_SETTINGS } from "../../../src/database/postgres/connection.ts";
import { findPooler, type Pooler, startPooler } from "../../support/pooler.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { ODD_VALUES, OTHER_SETTINGS } from "./other_settings.ts";

const FIELDS = {
  span: "-1 02:03:04",
  parts: ["a", null, "null"],
  at: "2026-01-02T12:00:00 EST",
  days: ["2026-02-01", null],
  doc: "<a/>text",
  price: "$1,234.50",
  ratio: "0.30000000000000004",
  raw: "\\x00ff",
  note: "a\\b",
};

/** A value of a list of arrays is the text of an array. */
const LISTED: Partial<Record<keyof typeof FIELDS, string>> = {
  parts: '{a,NULL,"null"}',
  days: "{2026-02-01,NULL}",
};

const program = await findPooler();
const ways = program === undefined ? ["directly"] : ["directly", "behind PgBouncer"];

for (const way of ways) {
  describe(`settings of role and database, ${way}`, () => {
    let pooler: Pooler | undefined;
    let service: TestService;
    let expected: unknown;
    let database: string;

    before(async () => {
      service = await createTestService("real", {
        environment: { ROWGATE_PREPARE: way === "directly" ? "on" : "off", ROWGATE_POOL_SIZE: "2" },
        policy: { tables: { shown: { expose: true, primary_key: ["id"] } } },
        route: async (url) => {
          if (way === "directly") return url;
          pooler = await startPooler(program!, url);
          return pooler.through(url);
        },
      });
      const { admin } = service.database;
      const [row] = await admin`select current_database() as name`;
      database = row!.name;
      await admin.unsafe(`create table valued (id int4 primary key, tenant_id int4 not null,
          span interval, parts text[], at timestamptz, days date[], doc xml, price money,
          ratio float8, raw bytea, note text, tags text[]);
        insert into valued (id, tenant_id, tags) select n, 1, array['all', n::text]
          from generate_series(1, 300) n;
        create index on valued using gin (tags);
        analyze valued;
        create view shown with (security_invoker) as select id, tenant_id,
          xmlelement(name raw, raw) as element, quote_ident('plain') as quoted from valued;
        grant select, update on valued to rowgate_app;
        grant select on shown to rowgate_app`);
      await waitUntil(async () => (await ask("valued", { per_page: 1 })).status === 200);
      expected = await observe();
      const { span, parts, stored } = expected as Record<string, unknown>;
      assertEquals([span, parts], ["P-1DT2H3M4S", ["a", null, "null"]]);
      assert(String(stored).includes("2026-01-02 17:00:00+00"), String(stored));
    });
    after(async () => {
      await service?.close();
      await pooler?.stop();
    });

    const ask = (table: string, body: object) =>
      service.send("POST", `/integration/tables/${table}/query`, { body });

    /** Writes and reads each kind of value, on sessions that begin now; what is stored, too. */
    async function observe(): Promise<unknown> {
      const { admin } = service.database;
      await admin`select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'rowgate_app' and datname = current_database()`;
      await waitUntil(async () => (await ask("valued", { per_page: 1 })).status === 200);
      await admin`update valued set span = null, parts = null, at = null, days = null, doc = null,
        price = null, ratio = null, raw = null, note = null where id = 1`;
      const body = { filters: { id: 1 }, fields: FIELDS };
      const written = await service.send("PATCH", "/integration/tables/valued/records/single", {
        body,
      });
      assertEquals(written.status, 200, written.text);
      const found = [];
      for (const field of ["span", "parts", "at", "days", "price", "raw", "note"] as const) {
        const value = LISTED[field] ?? FIELDS[field];
        const { text } = await ask("valued", {
          filters: { and: [{ field, op: "in", value: [value] }] },
          select: ["id"],
        });
        found.push(text);
      }
      const rows = await ask("valued", { filters: { and: [{ field: "id", op: "eq", value: 1 }] } });
      const all = await ask("valued", {
        filters: { and: [{ field: "tags", op: "contains", value: ["all"] }] },
        per_page: 1,
      });
      const shown = await ask("shown", { filters: { and: [{ field: "id", op: "eq", value: 1 }] } });
      const catalogue = await service.send("GET", "/integration/tables/valued/fields");
      const [stored] = await admin`select concat_ws('|', extract(epoch from span), parts, at, days,
        doc, price::numeric, ratio, encode(raw, 'hex'), note) as stored from valued where id = 1`;
      assertEquals(
        [rows.status, all.status, shown.status, catalogue.status],
        [200, 200, 200, 200],
        shown.text,
      );
      const [record] = JSON.parse(rows.text).records;
      return {
        ...record,
        ...{ found, rows: rows.text, all: JSON.parse(all.text).total, shown: shown.text },
        ...{
          catalogue: catalogue.text.replaceAll(/,"time_zone":"[^"]*"/g, ""),
          stored: stored!.stored,
        },
      };
    }

    /** Sets for the database or for the role in it, which wins; other databases do not notice. */
    async function set(owner: "database" | "role", name: string, value: string): Promise<void> {
      const { admin } = service.database;
      const whose = owner === "database"
        ? `database "${database}"`
        : `role rowgate_app in database "${database}"`;
      await admin.unsafe(`alter ${whose} set ${name} = '${value}'`);
    }

    async function reset(): Promise<void> {
      const { admin } = service.database;
      await admin.unsafe(`alter database "${database}" reset all;
        alter role rowgate_app in database "${database}" reset all`);
    }

    for (const [name, value] of Object.entries(ODD_VALUES)) {
      it(`answers and rows are the same when ${name} is ${value} ${way} [P24] [DB27]`, async () => {
        try {
          await set("role", name, value);
          assertEquals(await observe(), expected);
          await reset();
          await set("database", name, value);
          assertEquals(await observe(), expected);
        } finally {
          await reset();
        }
      });
    }

    it(`answers and rows are the same with all of them at once ${way} [P24] [DB27]`, async () => {
      try {
        for (const [name, value] of Object.entries(ODD_VALUES)) await set("role", name, value);
        assertEquals(await observe(), expected);
      } finally {
        await reset();
      }
    });

    it(`answers and rows are the same when everything else is turned round ${way} [P24] [DB27]`, async () => {
      const { admin } = service.database;
      const [planning] = OTHER_SETTINGS;
      const settings = await admin<{ name: string; value: string }[]>`
        select name, case vartype when 'bool' then case setting when 'on' then 'off' else 'on' end
          else (select v from unnest(enumvals) v where v <> setting limit 1) end as value
        from pg_settings where context in ('user', 'superuser') and vartype in ('bool', 'enum')
          and name !~ '^(ignore_system_indexes|allow_|trace_|debug_|log_)'`;
      const turned = settings.filter(({ name }) => planning![1].test(name));
      assert(turned.length > 20, `${turned.length} settings are turned round`);
      try {
        for (const { name, value } of turned) await set("database", name, value);
        assertEquals(await observe(), expected);
      } finally {
        await reset();
      }
    });

    it(`every setting of Postgres is pinned, or cannot change a value ${way} [P24] [DB27]`, async () => {
      const { admin } = service.database;
      const settings = await admin<{ name: string }[]>`select name from pg_settings
        where context in ('user', 'superuser') and name !~ '^(auto_explain|pg_stat)'`;
      const pinned = new Set([
        ...Object.keys(VALUE_SETTINGS),
        "DateStyle",
        "TimeZone",
        "client_encoding",
      ]);
      assertEquals([...pinned].sort(), Object.keys(ODD_VALUES).sort());
      const unknown = settings.map(({ name }) => name).filter((name) =>
        !pinned.has(name) && !OTHER_SETTINGS.some(([, names]) => names.test(name))
      );
      assertEquals(unknown, []);
      const both = [...pinned].filter((name) =>
        OTHER_SETTINGS.some(([, names]) => names.test(name))
      );
      assertEquals(both, []);
    });
  });
}
