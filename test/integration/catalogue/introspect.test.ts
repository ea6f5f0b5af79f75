import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Sql } from "../../../src/database/postgres/driver.ts";
import { buildCatalogue, type BuiltCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { Column, Table } from "../../../src/catalogue/catalogue.ts";
import { introspect } from "../../../src/catalogue/introspect.ts";
import { parsePolicy } from "../../../src/catalogue/policy.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";

const POLICY = {
  tables: {
    notes: { tenant_column: "org_id" },
    letters: { tenant_column: "org" },
    documents: { tenant_column: "account_id" },
    ledger: { tenant_column: "company_no" },
    countries: { shared: true },
    guests: { shared: true },
    open_deals: { expose: true, primary_key: ["fid", "nothing"] },
    deals_per_status: { expose: true },
    deal_totals: { expose: true },
    deals: { hidden_columns: ["secret_score", "missing"], read_only_columns: ["note"] },
    events_log: { read_only: true },
    order_lines: { hidden_columns: ["line_no"] },
    sessions: { read_only: true },
    nowhere: {},
    internal_settings: {},
  },
  credential_tables: ["FROZEN", "vault"],
};

async function read(sql: Sql, policy: unknown = {}, schema = "public"): Promise<BuiltCatalogue> {
  const parsed = parsePolicy(JSON.stringify(policy));
  assert("policy" in parsed);
  const options = { schemas: [schema], tenantColumn: "tenant_id", policy: parsed.policy };
  const [row] = await introspect(sql, options, undefined);
  return await buildCatalogue(JSON.parse(row!.reading!), options);
}

function tableOf({ catalogue }: BuiltCatalogue, name: string): Table {
  const table = catalogue.tables.get(name);
  assert(table !== undefined, `${name} is not exposed`);
  return table;
}

function columnOf(built: BuiltCatalogue, table: string, name: string): Column {
  const column = tableOf(built, table).columns.get(name);
  assert(column !== undefined, `${table}.${name} is not exposed`);
  return column;
}

for (const kind of DATABASE_KINDS) {
  describe(`introspection, ${kind}`, () => {
    let database: TestDatabase;
    let sql: Sql;
    let built: BuiltCatalogue;

    beforeAll(async () => {
      database = await createTestDatabase(kind, "fixture");
      sql = database.admin;
      await sql.unsafe(`
        create domain stage_domain as deal_stage;
        create table domains (
          id int4 primary key, tenant_id positive_int not null,
          stage stage_domain, stages stage_domain[], spans tstzrange[], few cents[], short short_text[],
          required needed_text, kept timestamp(0)[], part interval(3), address_domain address
        )`);
      built = await read(sql, POLICY);
    });
    afterAll(() => database.drop());

    it("exposes tables with the tenant column and what the policy names, by name [T2] [T3]", () => {
      const expected = [
        "MixedCase",
        "bookings",
        "countries",
        "deal_totals",
        "deals",
        "documents",
        "domains",
        "events_log",
        "everything",
        "guarded",
        "guests",
        "invoices",
        "ledger",
        "letters",
        "measurements",
        "notes",
        "oddities",
        "open_deals",
        "order",
        "order_lines",
        "soft_text",
        "staff",
        "ungranted",
      ];
      const names = [...built.catalogue.tables.keys()].filter((name) => name !== "members");
      assertEquals(names, expected);
    });

    it("lists no partition, only the table they make up [T4] [T3]", () => {
      assertEquals(tableOf(built, "measurements").pinnable, true);
      assertEquals(built.catalogue.tables.has("measurements_2024"), false);
    });

    it("keeps reserved and mixed-case names apart, quoted, in column order [IN5] [IN6]", () => {
      const table = tableOf(built, "order");
      assertEquals(table.identifier as string, '"public"."order"');
      const names = [...table.columns.keys()];
      assertEquals(names.slice(0, 8), [
        "id",
        "tenant_id",
        "select",
        "user",
        "order",
        "constructor",
        "__proto__",
        "toString",
      ]);
      assertEquals(names.slice(-2), ["Name", "name"]);
      assertEquals(table.columns.get("Name")?.identifier as string, '"Name"');
      assertEquals(table.columns.has("ctid"), false);
    });

    it("finds the tenant column by configuration and by policy, with its plain type [CF11] [T5] [T11]", () => {
      const tenants = ["deals", "notes", "letters", "documents", "ledger", "domains"].map(
        (name) => {
          const tenant = tableOf(built, name).tenant!;
          return [tenant.identifier, tenant.cast, tenant.kind] as unknown;
        },
      );
      assertEquals(tenants, [
        ['"tenant_id"', "pg_catalog.int4", "int4"],
        ['"org_id"', "pg_catalog.text", "text"],
        ['"org"', "pg_catalog.varchar", "text"],
        ['"account_id"', "pg_catalog.uuid", "uuid"],
        ['"company_no"', "pg_catalog.int8", "int8"],
        ['"tenant_id"', "pg_catalog.int4", "int4"],
      ]);
    });

    it("exposes a shared table without a tenant column, and scopes one that has it [T12] [0012]", () => {
      const countries = tableOf(built, "countries");
      assertEquals([countries.tenant, countries.writable], [undefined, false]);
      assertEquals(countries.columns.get("name")?.readOnly, "policy");
      assertEquals(tableOf(built, "guests").tenant?.name, "tenant_id");
    });

    it("exposes views read-only, only by policy, with the key that it names [T7] [T17] [T8] [0012]", () => {
      const view = tableOf(built, "open_deals");
      assertEquals(view.primaryKey.map((column) => column.name), ["fid"]);
      assertEquals(view.keyOrder.map(({ identifier }) => identifier as string), ['"fid"']);
      assertEquals([view.writable, view.pinnable], [false, false]);
      assertEquals(view.comment, "Deals that are not closed");
      assertEquals(tableOf(built, "deal_totals").primaryKey, []);
      assertEquals(built.catalogue.tables.has("deals_per_status"), false);
    });

    it("leaves out hidden columns, but orders pages by a hidden key column [T14] [T20] [0012]", () => {
      assertEquals(tableOf(built, "deals").columns.has("secret_score"), false);
      const lines = tableOf(built, "order_lines");
      assertEquals(lines.columns.has("line_no"), false);
      assertEquals(lines.primaryKey.map((column) => column.name), ["tenant_id", "order_no"]);
      assertEquals(lines.keyOrder.map(({ identifier }) => identifier as string), [
        '"tenant_id"',
        '"order_no"',
        '"line_no"',
      ]);
      assertEquals(tableOf(built, "events_log").keyOrder, []);
    });

    it("finds the columns by which an index orders a tenant's rows [0018]", () => {
      const ordered = (name: string) => [...tableOf(built, name).orderedByIndex].sort();
      assertEquals(ordered("deals") as readonly string[], [
        '"external_no"',
        '"fid"',
        '"modified_at"',
      ]);
      assertEquals(ordered("order_lines") as readonly string[], ['"order_no"']);
      assertEquals(ordered("guests") as readonly string[], ['"id"']);
      assertEquals(ordered("events_log"), []);
    });

    it("says why a column cannot be set", () => {
      const reasons = [
        ["deals", "fid", "primary key"],
        ["deals", "tenant_id", "tenant"],
        ["deals", "note", "policy"],
        ["deals", "title", undefined],
        ["order_lines", "tenant_id", "primary key"],
        ["invoices", "serial_no", "identity"],
        ["invoices", "gross", "generated"],
        ["events_log", "kind", "policy"],
        ["everything", "c_composite", "composite"],
        ["everything", "a_composite", "composite"],
      ] as const;
      for (const [table, column, reason] of reasons) {
        assertEquals(columnOf(built, table, column).readOnly, reason, `${table}.${column}`);
      }
      assertEquals(tableOf(built, "events_log").writable, false);
      assertEquals(tableOf(built, "deals").writable, true);
    });

    it("reports what in the policy does not match the database [T8] [T30] [CF6]", () => {
      const expected = [
        'table "odd_tenant": is not exposed, because its tenant column cannot hold a tenant',
        'table "soft_tenant": is not exposed, because its tenant column cannot hold a tenant',
        'policy: tables.deals.hidden_columns: there is no column "missing"',
        'policy: tables.deals_per_status: there is no tenant column "tenant_id", not exposed',
        'policy: tables.guests.shared: ignored, because the table has "tenant_id"',
        'policy: tables.internal_settings: there is no tenant column "tenant_id", not exposed',
        "policy: tables.sessions is a credential table and stays closed",
        'policy: tables.open_deals.primary_key: there is no column "nothing"',
        'policy: tables.nowhere is not in schema "public"',
        'policy: credential table "vault" is not in schema "public"',
      ];
      assertEquals([...built.warnings].sort(), expected.sort());
    });

    it("reads comments, nullability and labels", () => {
      assertEquals(tableOf(built, "deals").comment, "Deals of the sales team");
      assertEquals(columnOf(built, "deals", "amount").comment, "Expected value in euro");
      assertEquals(columnOf(built, "deals", "title").comment, null);
      assertEquals(columnOf(built, "deals", "title").nullable, false);
      assertEquals(columnOf(built, "deals", "note").nullable, true);
      assertEquals(columnOf(built, "domains", "required").nullable, false);
      const labels = ["lead", "qualified", "offer", "won", "lost"];
      for (const name of ["stage", "stages"]) {
        assertEquals(columnOf(built, "domains", name).labels, labels);
      }
      assertEquals(columnOf(built, "everything", "a_enum").labels, labels);
      assertEquals(columnOf(built, "everything", "c_enum_mixed").labels, [
        "red",
        "Green",
        'it\'s "blue"',
      ]);
    });

    it("describes types by element, resolves domains, and casts without modifiers [P1]", () => {
      const plain = (type: string, cast = `pg_catalog.${type}`) => ({
        type,
        cast,
        storedCast: cast,
      });
      const expected: Readonly<Record<string, Partial<Record<keyof Column, unknown>>>> = {
        c_int8: { ...plain("int8"), kind: "int8", wideNumber: true },
        c_numeric: { ...plain("numeric"), kind: "numeric", wideNumber: true },
        c_numeric_10_2: {
          type: "numeric",
          cast: "pg_catalog.numeric",
          storedCast: "numeric(10,2)",
        },
        c_varchar_3: { ...plain("varchar"), kind: "text", maxLength: 3, padded: false },
        c_varchar: { ...plain("varchar"), maxLength: undefined },
        c_char_4: { ...plain("bpchar"), kind: "text", maxLength: 4, padded: true },
        c_char_internal: { ...plain("char"), kind: "text", padded: false },
        c_bit_3: { ...plain("bit"), kind: "other", maxLength: 3 },
        c_varbit_5: { ...plain("varbit"), maxLength: 5 },
        c_timestamp_0: {
          type: "timestamp",
          cast: "pg_catalog.timestamp",
          storedCast: "timestamp(0) without time zone",
        },
        c_timestamptz_3: {
          type: "timestamptz",
          cast: "pg_catalog.timestamptz",
          storedCast: "timestamp(3) with time zone",
        },
        c_enum_mixed: { ...plain("Colour", '"public"."Colour"'), kind: "enum" },
        c_jsonb: { kind: "json", equality: true, order: true },
        c_json: { kind: "json", equality: false, order: false },
        c_xml: { kind: "other", equality: false, order: false },
        c_point: { kind: "other", equality: false, order: false },
        c_composite: { kind: "composite", equality: true, order: true },
        a_composite: { kind: "array", elementKind: "composite", equality: true, order: true },
        d_positive: {
          ...plain("positive_int", '"public"."positive_int"'),
          baseType: "int4",
          domain: true,
        },
        d_small: { kind: "int4", baseType: "int4", domain: true },
        d_short: { type: "short_text", cast: "pg_catalog.varchar", maxLength: 3, domain: false },
        d_cents: {
          type: "cents",
          cast: "pg_catalog.numeric",
          storedCast: "numeric(10,2)",
          domain: false,
          wideNumber: true,
        },
        d_int_list: {
          ...plain("int_list", '"public"."int_list"'),
          baseType: "int4[]",
          kind: "array",
          elementKind: "int4",
        },
        a_numeric_10_2: {
          type: "numeric[]",
          cast: "pg_catalog.numeric[]",
          storedCast: "numeric(10,2)[]",
          wideNumber: true,
        },
        a_varchar_3: { ...plain("varchar[]"), maxLength: 3, elementKind: "text", padded: false },
        a_positive: {
          ...plain("positive_int[]", '"public"."positive_int"[]'),
          baseType: "int4[]",
          domain: true,
        },
        a_matrix: { ...plain("int4[]"), elementKind: "int4" },
      };
      for (const [name, facts] of Object.entries(expected)) {
        const column = columnOf(built, "everything", name);
        for (const [fact, value] of Object.entries(facts)) {
          assertEquals(column[fact as keyof Column], value, `${name}.${fact}`);
        }
      }
      assertEquals(
        columnOf(built, "domains", "stage").comparedAs as unknown,
        '"public"."deal_stage"',
      );
      assertEquals(columnOf(built, "domains", "stages").comparedAs, undefined);
      assertEquals(
        columnOf(built, "domains", "few").cast as string,
        '"public"."cents"[]',
      );
    });

    it("gives casts and operators that Postgres accepts, for every column [T50]", async () => {
      for (const table of built.catalogue.tables.values()) {
        for (const column of table.columns.values()) {
          const { identifier, cast, storedCast, comparedAs } = column;
          const where = `${table.name}.${column.name}`;
          const operand = comparedAs === undefined ? identifier : `${identifier}::${comparedAs}`;
          const from = `from ${table.identifier} "$t"`;
          const value = (number: number) => `$${number}::text::${cast}`;
          await accepts(`select ${value(1)}, $2::text::${storedCast}`, where);
          if (!column.equality) continue;
          await accepts(`select 1 ${from} where ${operand} = ${value(1)}`, where);
          // An array of arrays is a longer array to Postgres: membership there is one `=` after another.
          if (column.kind !== "array") {
            await accepts(`select 1 ${from} where ${operand} = any ($1::text[]::${cast}[])`, where);
          }
          if (!column.order) continue;
          await accepts(`select 1 ${from} where ${operand} < ${value(1)}`, where);
          await accepts(`select 1 ${from} order by ${identifier}`, where);
        }
      }
    });

    it("has no equality where Postgres has none, or compares only areas or lengths [Q54] [P2]", () => {
      const without = [...tableOf(built, "everything").columns.values()]
        .filter((column) => !column.equality).map((column) => column.name);
      const shapes = ["point", "line", "lseg", "box", "path", "polygon", "circle"];
      assertEquals(without, [
        "c_json",
        "c_xml",
        ...shapes.map((shape) => `c_${shape}`),
      ]);
    });

    it("assigns through its casts, for every column that can be set", async () => {
      for (const table of built.catalogue.tables.values()) {
        if (!table.writable) continue;
        const set = [...table.columns.values()].filter((column) => column.readOnly === undefined)
          .map((column, index) => `${column.identifier} = $${index + 1}::text::${column.cast}`);
        await accepts(`update ${table.identifier} set ${set.join(", ")} where false`, table.name);
      }
    });

    it("gives the same text for the same schema, and another version after a change", async () => {
      const before = await read(sql, POLICY);
      assertEquals(before.catalogue.version, built.catalogue.version);
      const versions = new Set([before.catalogue.version]);
      const changes = [
        `comment on column deals.title is 'What it is about'`,
        `alter table deals add column extra text`,
        `alter table deals rename column extra to more`,
        `alter table deals alter column more type int4 using null`,
        `alter table deals drop column more`,
        `alter type deal_stage add value 'parked'`,
        `create table added (id int4 primary key, tenant_id int4 not null)`,
        `alter table added alter column tenant_id drop not null`,
      ];
      for (const change of changes) {
        await sql.unsafe(change);
        versions.add((await read(sql, POLICY)).catalogue.version);
      }
      // Dropping the column leads back to the version of the comment.
      assertEquals(versions.size, changes.length);
      await sql`insert into added values (1, 1)`;
      await read(sql, POLICY);
      assertEquals(versions.has((await read(sql, POLICY)).catalogue.version), true);
    });

    it("finds nothing in a missing schema, and no tables of other schemas [T1] [R9]", async () => {
      await sql.unsafe(`
        create schema other;
        create table other.deals (id int4 primary key, tenant_id int4 not null);
        create table other."only here" (id int4 primary key, tenant_id int4 not null)`);
      const missing = await read(sql, {}, "missing");
      assertEquals(missing.catalogue.tables.size, 0);
      assertEquals(missing.warnings, [
        'schema "missing" is not there, or the role may not use it',
      ]);
      const { catalogue } = await read(sql, {}, "other");
      assertEquals([...catalogue.tables.keys()], ["deals"]);
      assertEquals(catalogue.tables.get("deals")?.identifier as string, '"other"."deals"');
      assertEquals(catalogue.tables.get("deals")?.columns.size, 2);
    });

    it("treats a hostile schema name as a name", async () => {
      const name = `'"; drop table deals; --`;
      assertEquals((await read(sql, {}, name)).catalogue.tables.size, 0);
      assertEquals((await sql`select 1 from deals limit 1`).length, 1);
    });

    async function accepts(text: string, where: string): Promise<void> {
      try {
        await sql.unsafe(text).describe();
      } catch (error) {
        throw new Error(`${where}: ${(error as Error).message} in ${text}`);
      }
    }
  });
}

describe("introspection by a role with few rights, real", () => {
  let database: TestDatabase;
  let sql: Sql;
  let built: BuiltCatalogue;

  beforeAll(async () => {
    database = await createTestDatabase("real", "fixture");
    sql = postgres(database.servingUrl!, { max: 1, fetch_types: false, onnotice: () => {} });
    built = await read(sql);
  });
  afterAll(async () => {
    await sql.end();
    await database.drop();
  });

  it("leaves out columns without SELECT [T18]", () => {
    const columns = tableOf(built, "staff").columns;
    assertEquals([...columns.keys()], ["id", "tenant_id", "name", "job"]);
    assertEquals(tableOf(built, "staff").writable, true);
  });

  it("makes columns without UPDATE read-only [T53]", async () => {
    await database.admin.unsafe("revoke update on deals from rowgate_app");
    await database.admin.unsafe("grant update (title) on deals to rowgate_app");
    const deals = await read(sql);
    assertEquals(columnOf(deals, "deals", "title").readOnly, undefined);
    assertEquals(columnOf(deals, "deals", "status").readOnly, "privilege");
    await database.admin.unsafe("revoke update (title) on deals from rowgate_app");
    assertEquals(tableOf(await read(sql), "deals").writable, false);
  });

  it("cannot pin row versions with grants on columns, unless they include the system columns [0012]", async () => {
    assertEquals(tableOf(built, "staff").pinnable, false);
    assertEquals(tableOf(built, "deals").pinnable, true);
    await database.admin.unsafe("grant select (ctid, xmin, tableoid) on staff to rowgate_app");
    assertEquals(tableOf(await read(sql), "staff").pinnable, true);
    await sql`select ctid, xmin, tableoid from staff`;
  });

  it("leaves out a table whose tenant column cannot be read", async () => {
    await database.admin.unsafe("revoke select on guests from rowgate_app");
    await database.admin.unsafe("grant select (id, name) on guests to rowgate_app");
    assertEquals((await read(sql)).catalogue.tables.has("guests"), false);
  });

  it("finds nothing in a schema that it may not use [T6]", async () => {
    await database.admin.unsafe(`create schema closed;
      create table closed.deals (id int4 primary key, tenant_id int4 not null);
      grant select on closed.deals to rowgate_app`);
    assertEquals((await read(sql, {}, "closed")).catalogue.tables.size, 0);
  });
});
