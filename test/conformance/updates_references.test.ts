import { assertEquals, assertStringIncludes } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SCHEMA = `
  create schema elsewhere;
  create table elsewhere.desks (id int4 primary key, tenant_id int4 not null);
  create table elsewhere.kinds (id int4 primary key);
  create table people (id int4 primary key, tenant_id int4 not null, region int4, no int4,
    unique (region, no));
  create table secrets (id int4 primary key, tenant_id int4 not null);
  create table plans (id int4 primary key, tenant_id int4 not null);
  create table colours (id int4 primary key);
  create table rooms (id int4 primary key, person_id int4 not null references people);
  create table days (id int4, tenant_id int4 not null, primary key (id)) partition by range (id);
  create table days_1 partition of days for values from (0) to (1000);
  create function refer() returns trigger language plpgsql as $$ begin
    if new.title <> '' then new.assignee_id := new.title::int4; end if; return new; end $$;
  create function refer_of(text) returns int4 immutable language sql as
    $$ select nullif($1, '')::int4 $$;
  create table early (id int4 primary key, tenant_id int4 not null, title text not null default '',
    assignee_id int4 references people);
  create trigger refer before update of title on early for each row execute function refer();
  create table computed (id int4 primary key, tenant_id int4 not null, title text not null default '',
    assignee_id int4 generated always as (refer_of(title)) stored references people);
  create table late (id int4 primary key, tenant_id int4 not null, title text not null default '',
    assignee_id int4 references people);
  create function refer_late() returns trigger language plpgsql security definer as $$ begin
    update late set assignee_id = title::int4
      where title <> '' and assignee_id is distinct from title::int4; return null; end $$;
  create trigger refer after update of title on late execute function refer_late();
  insert into early values (1, 1), (3, 1);
  insert into computed values (1, 1), (3, 1);
  insert into late values (1, 1), (3, 1);
  create table lots (id int4 primary key, code text not null unique,
    slot int4 unique, tenant_id int4 generated always as (split_part(code, '-', 1)::int4) stored);
  insert into lots values (1, '1-a', 1), (2, '2-taken', 2), (3, '1-c', 3);
  create table homes (code text primary key, tenant_id int4 not null);
  insert into homes values ('1-a', 1), ('2-a', 2);
  create table stays (id int4 primary key, name text not null,
    home text generated always as (name || '-a') stored references homes);
  insert into stays values (1, '1');
  grant select, update on early, computed, late, lots, homes, stays to public;
  create table tasks (id int4 primary key, tenant_id int4 not null, title text default '',
    assignee_id int4 references people deferrable initially deferred,
    reviewer_id int4,
    anyone_id int4 references people,
    region int4, no int4, foreign key (region, no) references people (region, no),
    parent_id int4 references tasks, room_id int4 references rooms, day_id int4 references days,
    secret_id int4 references secrets, plan_id int4 references plans,
    colour_id int4 references colours, desk_id int4 references elsewhere.desks,
    kind_id int4 references elsewhere.kinds);
  alter table tasks add foreign key (reviewer_id) references people not valid;
  insert into elsewhere.desks values (1, 1), (2, 2);
  insert into elsewhere.kinds values (1);
  insert into people values (1, 1, 1, 1), (2, 2, 2, 2), (3, 1, 1, 2);
  insert into secrets values (1, 1), (2, 2);
  insert into plans values (1, 1), (2, 2);
  insert into colours values (1);
  insert into rooms values (1, 1), (2, 2);
  insert into days values (1, 1), (2, 2);
  insert into tasks (id, tenant_id, region) values (1, 1, 1), (2, 2, 2), (3, 1, 1);
  create view jobs as select id, tenant_id, title, assignee_id, no, region from tasks;
  create view renamed as select id, tenant_id, title, assignee_id as person, kind_id as kind from tasks;
  create view above as select id, tenant_id, assignee_id from jobs;
  grant select, update on jobs, renamed, above to public;
  grant select, update on people, secrets, rooms, days, tasks, colours to public;`;

const POLICY = {
  credential_tables: ["secrets"],
  tables: {
    colours: { shared: true },
    rooms: { tenant_via: { columns: ["person_id"], table: "people" } },
    tasks: { cross_tenant_columns: ["anyone_id"] },
    jobs: { expose: true, writable: true, primary_key: ["id"] },
    above: { expose: true, writable: true, primary_key: ["id"] },
    renamed: { expose: true, writable: true, primary_key: ["id"] },
    stays: { tenant_via: { columns: ["home"], table: "homes" } },
  },
};

/** A column, a value of the tenant, one of another tenant, and one that does not exist. */
const REFERENCES = [
  ["assignee_id", 3, 2, 99],
  ["reviewer_id", 3, 2, 99],
  ["parent_id", 3, 2, 99],
  ["room_id", 1, 2, 99],
  ["day_id", 1, 2, 99],
  ["secret_id", 1, 2, 99],
] as const;

describeService("References", (conversation) => {
  const { single, bulk, batch, query, get, run, service } = conversation;
  before(() => run(SCHEMA));
  const mine = () => run("select * from tasks order by id");
  const set = (fields: Record<string, unknown>, filters: Record<string, unknown> = { id: 1 }) => ({
    filters,
    fields,
  });

  for (const [column, own, foreign, missing] of REFERENCES) {
    it(`a new ${column} that refers to no row of the same tenant is rejected without further details [T83] [TE26]`, async () => {
      const before = await mine();
      for (const filters of [{ id: 1 }, { title: "", id: 1 }, { title: "" }]) {
        const send = filters.id === undefined ? bulk : single;
        const [other, none] = await Promise.all(
          [foreign, missing].map((value) => send("tasks", set({ [column]: value }, filters))),
        );
        assertRejected(other!, 409);
        assertStringIncludes(other!.text, `fields.${column}: `);
        assertEquals(other!.text, none!.text);
      }
      const dry = { headers: { prefer: "tx=rollback" } };
      assertRejected(await single("tasks", set({ [column]: foreign }), dry), 409);
      const updates = [set({ title: "first" }), set({ [column]: foreign }, { id: 3 })];
      const together = await batch("tasks", { updates });
      assertRejected(together, 409);
      assertStringIncludes(together.text, `updates[1].fields.${column}: `);
      assertEquals(await mine(), before);

      for (const value of [own, null]) {
        assertEquals(assertOk(await single("tasks", set({ [column]: value })))["updated"], 1);
      }
    });
  }

  for (const table of ["early", "computed", "late"]) {
    it(`a key of ${table} that a trigger or an expression sets refers to the same tenant, or to nothing more than before [T83] [T86] [TE26]`, async () => {
      const stored = () => run(`select * from ${table} order by id`);
      const before = await stored();
      for (const send of [single, bulk]) {
        const [other, none] = [
          await send(table, set({ title: "2" })),
          await send(table, set({ title: "99" })),
        ];
        assertRejected(other, 409);
        assertEquals(other.text, none.text);
      }
      for (const title of ["2", "99"]) {
        const updates = [set({ title: "1" }), set({ title }, { id: 3 })];
        const together = await batch(table, { updates });
        assertRejected(together, 409);
        assertStringIncludes(together.text, "updates[1]: The new values conflict");
      }
      assertEquals(await stored(), before);
      assertOk(await single(table, set({ title: "3" })));
      assertEquals((await stored())[0]!["assignee_id"], 3);
      // What it refers to already may stay.
      if (table === "computed") return;
      await run(`update ${table} set title = '', assignee_id = 2 where id = 3`);
      assertEquals(assertOk(await single(table, set({ title: "2" }, { id: 3 })))["updated"], 1);
    });
  }

  for (const table of ["jobs", "above"]) {
    it(`a key is checked through the view ${table} [T83] [T85] [TE26]`, async () => {
      await run("update tasks set assignee_id = null");
      for (const send of [single, bulk]) {
        const [other, none] = [
          await send(table, set({ assignee_id: 2 })),
          await send(table, set({ assignee_id: 99 })),
        ];
        assertRejected(other, 409);
        assertStringIncludes(other.text, "fields.assignee_id: ");
        assertEquals(other.text, none.text);
      }
      assertEquals(assertOk(await single(table, set({ assignee_id: 3 })))["updated"], 1);
    });
  }

  it("a key that a view has under another name cannot be set through it [T85] [TE26]", async () => {
    for (const column of ["person", "kind"]) {
      assertRejectedAt(
        await single("renamed", set({ [column]: 2 })),
        `fields.${column}`,
        "refers to rows whose tenant cannot be checked",
      );
    }
    assertOk(await single("renamed", set({ title: "through a view" })));
  });

  it("a broken key is no news of another tenant's rows where the tenant is computed [E48] [TE26]", async () => {
    for (
      const [table, column, taken, free] of [
        ["lots", "code", "2-taken", "2-free"],
        ["stays", "name", "2", "3"],
      ] as const
    ) {
      for (const send of [single, bulk]) {
        const [other, none] = [
          await send(table, set({ [column]: taken })),
          await send(table, set({ [column]: free })),
        ];
        assertRejected(other, 409);
        assertEquals(other.text, none.text);
      }
      const at = async (value: string) =>
        (await batch(table, { updates: [set({ [column]: value })] })).text;
      assertEquals(await at(taken), await at(free));
    }
    assertOk(await single("lots", set({ code: "1-b" })));
    const taken = await single("lots", set({ slot: 3 }));
    assertRejected(taken, 409);
    assertStringIncludes(taken.text, "fields.slot: The new values conflict");
  });

  it("a key of several columns is compared with those that stay [T83]", async () => {
    assertRejected(await single("tasks", set({ region: 2, no: 2 })), 409);
    assertOk(await single("tasks", set({ no: 2 })));
    const [foreign, missing] = [
      await single("tasks", set({ region: 2 })),
      await single("tasks", set({ region: 9 })),
    ];
    assertRejected(foreign!, 409);
    assertEquals(foreign!.text, missing!.text);
    assertOk(await single("tasks", set({ no: null, region: 2 })));
    assertOk(await single("tasks", set({ region: 1 })));
  });

  it("a key that the policy names may refer to any tenant, and one to a shared table to any row [T84]", async () => {
    assertOk(await single("tasks", set({ anyone_id: 2 })));
    assertRejected(await single("tasks", set({ anyone_id: 99 })), 409);
    assertOk(await single("tasks", set({ colour_id: 1, kind_id: 1 })));
  });

  it("a key that the service cannot check cannot be set, and the operator is warned [T85]", async () => {
    if (service().database.url !== undefined && !IS_REMOTE) {
      const warnings = service().observations.flatMap((each) =>
        each.kind === "warning" ? [each.message] : []
      );
      const about = warnings.filter((each) => each.includes("its reference cannot be checked"));
      assertStringIncludes(about.join("\n"), '"desk_id" cannot be set');
    }
    const error = assertRejectedAt(
      await single("tasks", set({ desk_id: 1 })),
      "fields.desk_id",
      "refers to rows whose tenant cannot be checked",
    );
    assertEquals(error.includes("elsewhere"), false);
    const { body } = await get("/integration/tables/tasks/fields");
    const fields = body["fields"] as { name: string; writable: boolean }[];
    assertEquals(fields.find(({ name }) => name === "desk_id")?.writable, false);
  });

  it("a value that the row already has is accepted, whatever it refers to [T83]", async () => {
    await run("update tasks set assignee_id = 2 where id = 3");
    const same = await single("tasks", set({ assignee_id: 2 }, { id: 3 }));
    assertEquals(assertOk(same)["updated"], 0);
    assertOk(await single("tasks", set({ title: "x" }, { id: 3 })));
    assertOk(await query("tasks", {}));
    assertRejected(await bulk("tasks", set({ assignee_id: 2 }, { region: 1 })), 409);
  });

  it("a rejected reference leaves no key of idempotency behind [T83] [IK10]", async () => {
    const headers = { "idempotency-key": '"reference"' };
    assertRejected(await single("tasks", set({ assignee_id: 2 }), { headers }), 409);
    assertOk(await single("tasks", set({ assignee_id: 3 }), { headers }));
    await checksumTenant(service().database.admin, 1);
  });
}, { policy: POLICY, environment: { ROWGATE_AUDIT: "on" } });
