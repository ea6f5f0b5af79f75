// Every statement that doctor prints for keys is executed, on schemas with each form of key; nothing but what it
// names may be different then.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { runLines } from "../../support/run_printed.ts";
import { examineDatabase, type ExamineOptions } from "./examine_database.ts";

const PEOPLE = `
create table people (tenant_id int4 not null, id int4 primary key, a int4 not null, b int4 not null,
  unique (a, b));
create index on people (tenant_id);
insert into people select n % 2, n, n, n from generate_series(1, 10) n;
`;

/** Definitions of a foreign key on `p`, or on `p, q`, as they are written after the columns. */
const FORMS: readonly (readonly [columns: string, definition: string])[] = [
  ["p", "references people"],
  ["p", "references people on delete cascade on update cascade"],
  ["p", "references people on delete restrict on update restrict"],
  ["p", "references people on delete set null"],
  ["p", "references people on delete set default on update cascade"],
  ["p", "references people deferrable"],
  ["p", "references people on delete cascade deferrable initially deferred"],
  ["p", "references people not valid"],
  ["p, q", "references people (a, b)"],
  ["p, q", "references people (b, a) match full on delete cascade"],
  ["p, q", "references people (a, b) on delete set null"],
  ["p, q", "references people (a, b) on delete set null (q)"],
  ["p, q", "references people (a, b) on delete set default (p) deferrable"],
];

function uncheck({ tables, ...catalogue }: Catalogue): Catalogue {
  const unchecked = [...tables].map(([name, table]) =>
    [name, { ...table, references: [] }] as const
  );
  return { ...catalogue, tables: new Map(unchecked) };
}

for (const kind of DATABASE_KINDS) {
  describe(`statements of doctor (${kind})`, () => {
    let test: TestDatabase;

    beforeEach(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(PEOPLE);
    });
    afterEach(() => test.drop());

    /** The keys are looked at as if the policy let them refer to any tenant. */
    async function fixesOf(
      check: string,
      options: ExamineOptions = {},
    ): Promise<readonly string[]> {
      if (kind === "real") {
        await test.admin`grant select, update on all tables in schema public to rowgate_app`;
      }
      const { findings } = (await examineDatabase(test, { change: uncheck, ...options })).get(
        check,
      )!;
      return findings.map(({ fix }) => fix);
    }

    async function readDefinitions(what: "constraint" | "index"): Promise<Map<string, string>> {
      const rows = what === "constraint"
        ? await test.admin`select conrelid::regclass || ' ' || conname as name,
            concat_ws(' -- ', pg_get_constraintdef(oid), obj_description(oid)) as definition
          from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
          order by 1`
        : await test.admin`select indexname as name, indexdef as definition
          from pg_indexes where schemaname = 'public' order by 1`;
      return new Map(rows.map(({ name, definition }) => [name, definition]));
    }

    it("put the tenant into a foreign key and change nothing else about it [CF21]", async () => {
      for (const [n, [columns, definition]] of FORMS.entries()) {
        const nulls = definition.includes("match full") ? "not null" : "";
        await test.admin.unsafe(`
          create table t${n} (tenant_id int4 not null, p int4 default 1 ${nulls}, q int4 ${nulls});
          create index on t${n} (tenant_id);
          alter table t${n} add constraint "Key ""${n}" foreign key (${columns}) ${definition};
          comment on constraint "Key ""${n}" on t${n} is 'it''s \\\n é'`);
      }
      const before = await readDefinitions("constraint");
      const fixes = await fixesOf("foreign keys");
      assertEquals(fixes.length, FORMS.length);
      for (const fix of fixes) await runLines(test.admin, fix);
      const after = await readDefinitions("constraint");
      for (const [name, text] of before) {
        const [, own = ""] = /^FOREIGN KEY \(([^)]*)\)/.exec(text) ?? [];
        const expected = text.replace(/^FOREIGN KEY \(/, "$&tenant_id, ")
          .replace(/REFERENCES people\(/, "$&tenant_id, ")
          .replace(/ON DELETE SET (NULL|DEFAULT)(?! \()/, `$& (${own})`);
        assertEquals(after.get(name), expected);
      }
      assertEquals(after.size, before.size);
      assertEquals(await fixesOf("foreign keys"), []);
    });

    it("keep the tenant of a row when the row that it refers to is deleted [CF21]", async () => {
      await test.admin.unsafe(`
        create table visits (tenant_id int4 not null, p int4 references people on delete set null);
        insert into visits values (1, 1), (1, 3)`);
      for (const fix of await fixesOf("foreign keys")) await runLines(test.admin, fix);
      await test.admin`delete from people where id = 1`;
      assertEquals([...await test.admin`select tenant_id, p from visits order by p`], [
        { tenant_id: 1, p: 3 },
        { tenant_id: 1, p: null },
      ]);
    });

    it("extend keys of partitioned tables, of a table to itself, and several to one [CF21]", async () => {
      await test.admin.unsafe(`
        create table parts (tenant_id int4 not null, id int4, parent int4, primary key (id))
          partition by hash (id);
        create table parts_0 partition of parts for values with (modulus 2, remainder 0);
        create table parts_1 partition of parts for values with (modulus 2, remainder 1);
        create table uses (tenant_id int4 not null, part int4 references parts on delete cascade)
          partition by list (tenant_id);
        create table uses_1 partition of uses for values in (1);
        create table uses_2 partition of uses for values in (2);
        create table tree (tenant_id int4 not null, id int4 primary key,
          left_id int4 references tree on delete cascade, right_id int4 references tree);
        insert into parts select 1, n from generate_series(1, 9) n;
        insert into uses select 1, n from generate_series(1, 9) n;`);
      const indexes = await readDefinitions("index");
      const fixes = await fixesOf("foreign keys");
      assertEquals(fixes.length, 3);
      for (const fix of fixes) await runLines(test.admin, fix);
      assertEquals(await fixesOf("foreign keys"), []);
      const after = await readDefinitions("constraint");
      assertEquals(
        after.get("uses uses_part_fkey"),
        "FOREIGN KEY (tenant_id, part) REFERENCES parts(tenant_id, id) ON DELETE CASCADE",
      );
      assertEquals(
        after.get("tree tree_left_id_fkey"),
        "FOREIGN KEY (tenant_id, left_id) REFERENCES tree(tenant_id, id) ON DELETE CASCADE",
      );
      // One index for both keys of the tree; one for the partitioned table and one for each part.
      assertEquals((await readDefinitions("index")).size, indexes.size + 4);
      // Run again, they are rejected or change nothing.
      for (const fix of fixes) await runLines(test.admin, fix);
      assertEquals(await readDefinitions("constraint"), after);
    });

    it("put the tenant columns that a key lacks into it, where a tenant has several [CF21] [T72]", async () => {
      const sites = "firm int4 not null, site text not null";
      await test.admin.unsafe(`
        create table houses (${sites}, no int4 not null, id int4 primary key,
          unique (firm, no), unique (site, firm, no));
        create table flats (${sites}, id int4 primary key, house int4 references houses on delete cascade,
          no int4, constraint by_no foreign key (no, firm) references houses (no, firm)
            on delete set null (no) deferrable,
          constraint whole foreign key (firm, no, site) references houses (firm, no, site));
        create table odd (${sites}, no int4,
          constraint crossed foreign key (no, firm) references houses (firm, no));
        create index on houses (firm, site); create index on flats (firm, site);
        create index on odd (firm, site);
        insert into houses values (1, 'a', 1, 1), (1, 'b', 2, 2), (2, 'a', 1, 3);
        insert into flats values (1, 'a', 1, 1, null), (1, 'b', 2, 1, null)`);
      const tenant_columns = ["firm", "site"];
      const policy = {
        tables: { houses: { tenant_columns }, flats: { tenant_columns }, odd: { tenant_columns } },
      };
      const before = await readDefinitions("constraint");
      const [byNo, house, crossed, ...others] = await fixesOf("foreign keys", { policy });
      assertEquals(others, []);
      assertMatch(crossed!, /^change the tables by hand: crossed already pairs a tenant column/);
      const [query = "", ...extend] = house!.split("\n");
      assertEquals([...await test.admin.unsafe(query)], [
        { firm: 1, site: "b", id: 2, house: 1, no: null },
      ]);
      await test.admin`update flats set house = 2 where id = 2`;
      await runLines(test.admin, byNo!);
      await runLines(test.admin, extend.join("\n"));
      const after = await readDefinitions("constraint");
      assertEquals(
        after.get("flats by_no"),
        "FOREIGN KEY (site, no, firm) REFERENCES houses(site, no, firm) ON DELETE SET NULL (no) DEFERRABLE",
      );
      assertEquals(
        after.get("flats flats_house_fkey"),
        "FOREIGN KEY (firm, site, house) REFERENCES houses(firm, site, id) ON DELETE CASCADE",
      );
      const changed = [...before].filter(([name, text]) => after.get(name) !== text);
      assertEquals(changed.map(([name]) => name), ["flats by_no", "flats flats_house_fkey"]);
      assertEquals((await fixesOf("foreign keys", { policy })).length, 1);
      assertEquals(await fixesOf("other foreign keys", { policy }), []);
      const indexes = await readDefinitions("index");
      const [unique, ...more] = (await fixesOf("unique keys", { policy }))
        .filter((fix) => fix.includes('"houses"'));
      assertEquals(more, []);
      assertMatch(unique!, /"houses":\{"read_only_columns":\["no"\]\}/);
      await runLines(test.admin, unique!);
      const added = [...await readDefinitions("index")].filter(([name]) => !indexes.has(name));
      assertEquals(added.length, 1);
      assertMatch(added[0]![1], /^CREATE UNIQUE INDEX .* \(site, firm, no\)$/);
    });

    it("give advice where no statement is right [CF21]", async () => {
      await test.admin.unsafe(`
        create table free (tenant_id int4, p int4 references people);
        create table texts (tenant_id text not null, p int4 references people);
        create table full_keys (tenant_id int4 not null, p int4, q int4,
          foreign key (p, q) references people (a, b) match full);
        create table lines (order_id int4 not null, foreign key (order_id) references people);
        create table made (n int4, p int4 references people on update cascade,
          tenant_id int4 not null generated always as (0) stored);
        create table off (tenant_id int4 not null, p int4 references people);
        alter table off disable trigger all;
        create table updates (tenant_id int4 not null, p int4 references people on update set null)`);
      const policy = { tables: { lines: { tenant_column: "order_id" } } };
      const [free, full, lines, made, off, texts, updates, ...others] = await fixesOf(
        "foreign keys",
        { policy },
      );
      assertEquals(others, []);
      assertMatch(free!, /^make the tenant columns of free and people NOT NULL first/);
      assertMatch(full!, /^decide by hand: full_keys_p_q_fkey is MATCH FULL/);
      assertMatch(lines!, /^change the tables by hand: lines_order_id_fkey already pairs a tenant/);
      assertMatch(made!, /^decide by hand: tenant_id is a generated column/);
      assertMatch(off!, /^extend off_p_fkey by the tenant columns by hand/);
      assertMatch(texts!, /^give texts\.tenant_id and people\.tenant_id the same type first/);
      assertMatch(updates!, /^decide by hand: with tenant_id in it, ON UPDATE SET NULL of updates/);
    });

    it("keep a foreign key that rows of other tenants break, and find these rows [CF21]", async () => {
      await test.admin.unsafe(`
        create table visits (tenant_id int4 not null, p int4 references people on delete cascade);
        insert into visits values (1, 1), (1, 2)`);
      const before = await readDefinitions("constraint");
      const [fix = ""] = await fixesOf("foreign keys");
      const [query = "", ...rest] = fix.split("\n");
      assertEquals([...await test.admin.unsafe(query)], [{ tenant_id: 1, p: 2 }]);
      for (const line of rest) await test.admin.unsafe(line).catch(() => {});
      assertEquals(await readDefinitions("constraint"), before);
      await test.admin`delete from visits where p = 2`;
      await runLines(test.admin, rest.join("\n"));
      assertEquals(await fixesOf("foreign keys"), []);
    });

    it("create unique indexes as they were, with the tenant, and drop none [CF21]", async () => {
      await test.admin.unsafe(`
        create table names (tenant_id int4 not null, id int4 primary key, a text, b text, c text,
          d int4, e int4, f int4, constraint "E's" unique (e) deferrable initially deferred,
          constraint names_f unique (f) include (tenant_id));
        create index on names (tenant_id);
        create table refers (tenant_id int4 not null, f int4 references names (f));
        create index on refers (tenant_id);
        create unique index "odd "" USING btree (" on names (b desc nulls last, a collate "C")
          include (d) with (fillfactor = 70) where c > 'x';
        create unique index patterns on names (c text_pattern_ops) nulls not distinct`);
      const constraints = await readDefinitions("constraint");
      const indexes = await readDefinitions("index");
      const fixes = (await fixesOf("unique keys")).filter((fix) => fix.includes('"names"'));
      for (const fix of fixes) await runLines(test.admin, fix);
      const added = [...await readDefinitions("index")].filter(([name]) => !indexes.has(name));
      const table = "ON public.names USING btree (tenant_id,";
      assertEquals(
        added.map(([name, text]) => text.slice(text.indexOf(name) + name.length + 1)).sort(),
        [
          `${table} b DESC NULLS LAST, a COLLATE "C") INCLUDE (d) WITH (fillfactor='70') WHERE (c > 'x'::text)`,
          `${table} c text_pattern_ops) NULLS NOT DISTINCT`,
          `${table} e)`,
          `${table} f) INCLUDE (tenant_id)`,
        ],
      );
      const now = await readDefinitions("constraint");
      for (const [name, text] of constraints) assertEquals(now.get(name), text);
      const [, constraint] = [...now].find(([name]) => /by_tenant/.test(name))!;
      assertEquals(constraint, "UNIQUE (tenant_id, e) DEFERRABLE INITIALLY DEFERRED");
      // The commented statement drops the old one, and says what must be changed before.
      const drops = fixes.map((fix) => fix.split("\n").at(-1)!.replace("-- ", ""));
      const [references] = fixes.filter((fix) => fix.includes("refers_f_fkey"));
      assertStringIncludes(references!, "and after changing refers_f_fkey:");
      await test.admin`alter table refers drop constraint refers_f_fkey`;
      for (const drop of drops) await test.admin.unsafe(drop);
      assert((await fixesOf("unique keys")).every((fix) => !fix.includes('"names"')));
    });

    if (kind !== "real") return;

    it("use nothing that another role has planted on the path of the owner [TE25] [CF21]", async () => {
      await test.admin.unsafe(`
        create table coupons (tenant_id int4 not null, code varchar(20), kind varchar(20));
        create unique index live on coupons (code) where lower(kind) = 'live';
        insert into coupons values (1, 'a', 'live');
        create function same(text, text) returns bool immutable language plpgsql
          as 'begin raise exception ''planted''; end';
        create function same(varchar, varchar) returns bool immutable language plpgsql
          as 'begin raise exception ''planted''; end';
        create function lower(varchar) returns text immutable language plpgsql
          as 'begin raise exception ''planted''; end';
        create operator = (leftarg = text, rightarg = text, function = same);
        create operator = (leftarg = varchar, rightarg = varchar, function = same)`);
      const [fix] = (await fixesOf("unique keys")).filter((text) => text.includes("coupons"));
      await runLines(test.admin, `set search_path = public, pg_catalog;\n${fix}`);
      const [made] = await test.admin`select pg_get_expr(i.indpred, i.indrelid) as condition
        from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname like 'coupons_by_tenant%'`;
      assertEquals(made!.condition, "(lower((kind)::text) = 'live'::text)");
    });

    it("name the schema of what they change, whatever the search path is [CF21]", async () => {
      await test.admin.unsafe(`
        create schema "Sales data";
        create table "Sales data".people (tenant_id int4 not null, id int4 primary key, x int4);
        create function "Sales data".note() returns trigger language plpgsql security definer
          as 'begin return new; end';
        create function public.note() returns trigger language plpgsql security definer
          as 'begin return new; end';
        create trigger noted before update on "Sales data".people
          for each row execute function "Sales data".note();
        grant usage on schema "Sales data" to rowgate_app;
        grant select, update, truncate on people, "Sales data".people to rowgate_app`);
      const environment = { ROWGATE_SCHEMA: "Sales data" };
      for (const check of ["serving role", "triggers"]) {
        const fixes = await fixesOf(check, { environment });
        assertEquals(fixes.length, 1);
        for (const fix of fixes) await runLines(test.admin, fix);
        assertEquals(await fixesOf(check, { environment }), []);
      }
      const [row] = await test.admin`select
        has_table_privilege('rowgate_app', 'public.people', 'truncate') as other,
        (select prosecdef from pg_proc where oid = 'public.note'::regproc) as definer`;
      assertEquals({ ...row }, { other: true, definer: true });
    });
  });
}
