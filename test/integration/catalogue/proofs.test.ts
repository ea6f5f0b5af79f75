// What the catalogue takes as proof: that a column is never NULL, that a key is unique, that a row has a
// parent. Constraints that do not hold for every row prove nothing.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { readPages } from "../../support/read_pages.ts";
import { hasVersion } from "../../support/postgres_binaries.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const TABLES = `
  create table houses (id int primary key, tenant_id int not null);
  insert into houses values (1, 1), (2, 2);
  create table rooms (id int primary key, house_id int);
  insert into rooms values (1, 1), (2, 9);
  alter table rooms add foreign key (house_id) references houses not valid;
  create table wings (id int primary key, house_id int references houses);
  create table old_wings () inherits (wings);
  create table visits (tenant_id int not null, id int, day date, note text) partition by range (day);
  create table visits_1 partition of visits for values from ('2026-01-01') to ('2026-02-01');
  create table visits_2 partition of visits for values from ('2026-02-01') to ('2026-03-01');
  alter table visits alter day set not null, alter id set not null;
  alter table only visits add primary key (id, day);
  insert into visits values (1, 1, '2026-01-05'), (1, 1, '2026-01-05');`;

const TABLES_18 = `
  create extension if not exists btree_gist;
  create table places (id int primary key, tenant_id int not null, place int unique, code int unique);
  insert into places select n, 1, nullif(n, least(n, 4)), n from generate_series(1, 12) n;
  alter table places add constraint placed not null place not valid;
  create table stays (id int, tenant_id int not null, during daterange not null,
    primary key (id, during without overlaps));
  insert into stays values (1, 1, '[2026-01-01,2027-01-01)');
  create table meals (id int primary key, stay_id int, during daterange,
    foreign key (stay_id, period during) references stays (id, period during));
  insert into meals values (1, 1, '[2026-02-01,2026-02-02)');
  create table loans (id int primary key, house_id int,
    foreign key (house_id) references houses not enforced);
  insert into loans values (1, 9);`;

const via = (table: string, ...columns: string[]) => ({ tenant_via: { columns, table } });
const POLICY = {
  tables: {
    rooms: via("houses", "house_id"),
    wings: via("houses", "house_id"),
    meals: via("stays", "stay_id", "during"),
    loans: via("houses", "house_id"),
  },
};

for (const major of [undefined, 18]) {
  if (major !== undefined && !await hasVersion(major)) {
    console.log(`there is no package of Postgres ${major} for this platform: it is left out`);
    continue;
  }
  describe(`constraints on Postgres ${major ?? "of the other tests"}`, () => {
    let cluster: Cluster | undefined;
    let service: TestService;

    before(async () => {
      cluster = await startCluster(major === undefined ? {} : { major });
      const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
      await admin`create database template_empty`;
      await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
      await admin.end();
      const empty = { template: "empty", cluster: cluster.url } as const;
      service = await createTestService("real", { ...empty, policy: POLICY });
      await service.database.admin.unsafe(TABLES + (major === 18 ? TABLES_18 : ""));
      await service.database.admin.unsafe(
        "grant select, insert, update on all tables in schema public to rowgate_app",
      );
      await refresh();
    });
    after(async () => {
      await service?.close();
      await cluster?.stop();
    });

    const refresh = async () => {
      await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    };
    const warnings = () =>
      service.observations.flatMap((each) => each.kind === "warning" ? [each.message] : []);
    const query = (table: string) =>
      service.send("POST", `/integration/tables/${table}/query`, { body: {} });

    it("a foreign key that is not valid leads to no tenant, and the table stays closed [TE24]", async () => {
      assertEquals((await query("rooms")).status, 404);
      const holds = /rooms\.tenant_via: no foreign key that holds for every row of "rooms" refers/;
      assert(warnings().some((warning) => holds.test(warning)), warnings().join("\n"));
    });

    it("a foreign key that child tables lack leads to no tenant [TE24]", async () => {
      assertEquals((await query("wings")).status, 404);
      assertMatch(warnings().join("\n"), /"wings" has child tables, which have no foreign key/);
    });

    it("a primary key that partitions do not have yet does not find one row of two [US25]", async () => {
      const body = { filters: { id: 1, day: "2026-01-05" }, fields: { note: "x" } };
      const path = "/integration/tables/visits/records/single";
      const response = await service.send("PATCH", path, { body });
      assertEquals([response.status, response.body["matched"]], [409, 2], response.text);
      const table = (await service.catalogue.current()).tables.get("visits")!;
      assertEquals([table.keyUnique, table.uniqueColumns], [false, []]);
    });

    if (major !== 18) return;

    it("a NOT NULL that is not valid is no proof: page tokens give every row [PT16]", async () => {
      for (const direction of ["asc", "desc"]) {
        const body = { sort: [{ field: "place", direction }], per_page: 2 };
        const rows = await readPages(service.send, { table: "places", body });
        assertEquals(new Set(rows.map((row) => row["id"])).size, 12, direction);
      }
      assertEquals(await isNullable("place"), true);
    });

    it("a NOT NULL that was validated is noticed, and is proof [T81]", async () => {
      const { admin } = service.database;
      await admin.unsafe("update places set place = 100 + id where place is null");
      await admin.unsafe("alter table places validate constraint placed");
      // The catalogue is read at most once a second.
      await waitUntil(async () => {
        await refresh();
        return !await isNullable("place");
      });
    });

    it("a foreign key of periods, and one that is not enforced, lead to no tenant [TE24]", async () => {
      for (const table of ["meals", "loans"]) {
        assertEquals((await query(table)).status, 404, table);
        const holds = new RegExp(`${table}.tenant_via: no foreign key that holds for every row`);
        assertMatch(warnings().join("\n"), holds);
      }
    });

    it("a key of periods that do not overlap is not taken for one that a sort or a filter knows [T81]", async () => {
      const table = (await service.catalogue.current()).tables.get("stays")!;
      assertEquals([table.keyUnique, table.uniqueColumns], [false, []]);
      const path = "/integration/tables/stays/query";
      assertEquals((await service.send("POST", path, { body: {} })).body["total"], 1);
    });

    async function isNullable(name: string): Promise<unknown> {
      const { body } = await service.send("GET", "/integration/tables/places/fields");
      const fields = body["fields"] as { name: string; nullable: boolean }[];
      return fields.find((field) => field.name === name)?.nullable;
    }
  });
}
