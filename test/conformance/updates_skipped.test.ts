import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertMatched, assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";
import { awaitBlocked, holding } from "./holding.ts";

const LOGGED = `insert into log values (old.id, 1);`;
const SCHEMA = `
create table log (id int4, tenant_id int4);
create table queued (id int4 primary key, tenant_id int4 not null, name text, tries int4 not null default 0);
create function queue_it() returns trigger language plpgsql as $$ begin
  ${LOGGED} if new.name = 'skipped' then return null; end if; return new; end $$;
create trigger queue_it before update on queued for each row execute function queue_it();
create view queued_view as select * from queued;
create table counted (id int4 primary key, tenant_id int4 not null, name text, tries int4 not null default 0);
create function count_it() returns trigger language plpgsql as $$ begin
  if pg_trigger_depth() > 1 then return new; end if;
  ${LOGGED}
  begin update counted set tries = tries + 1 where id = new.id; end;
  return null; end $$;
create trigger count_it before update on counted for each row execute function count_it();
create table locked (id int4 primary key, tenant_id int4 not null, name text, state text default 'open');
alter table locked enable row level security;
create policy all_of on locked using (true);
create policy open_ones on locked as restrictive for update using (state = 'open');
grant select, update on queued, queued_view, counted, locked to public;
grant insert on log to public;`;

const FILL = `delete from log; delete from queued; delete from counted;
  insert into queued select n, 1, 'name ' || n from generate_series(1, 3) n;
  insert into counted select n, 1, 'name ' || n from generate_series(1, 3) n;`;

const POLICY = {
  tables: { queued_view: { expose: true, writable: true, primary_key: ["id"] } },
};

describeService("Updates that a trigger skips", (conversation) => {
  const { kind, single, bulk, batch, run } = conversation;
  before(() => run(SCHEMA));

  const logged = async () =>
    (await run("select count(*)::int4 n from log"))[0] as { readonly n: number };
  const fields = { name: "skipped" };

  for (const table of ["queued", "queued_view", "counted"]) {
    for (const filters of [{ id: 2 }, { name: "name 2" }]) {
      it(`run the trigger of ${table} once by ${Object.keys(filters)}, and keep what it wrote [U64] [US26]`, async () => {
        await run(FILL);
        const response = await single(table, { filters, fields });
        assertRejected(response, 409, /^The database refused the change$/);
        assertEquals(await logged(), { n: 1 });
        const keyed = { headers: { "idempotency-key": `"${table} ${Object.keys(filters)}"` } };
        assertRejected(await single(table, { filters, fields }, keyed), 409);
        assertEquals(await logged(), { n: 2 });
        assertEquals(assertOk(await bulk(table, { filters, fields }))["updated"], 0);
        assertEquals(await logged(), { n: 3 });
        const rolled = { headers: { prefer: "tx=rollback" } };
        assertRejected(await single(table, { filters, fields }, rolled), 409);
        const undone = await batch(table, { updates: [{ filters, fields }] });
        assertRejected(undone, 409, /^updates\[0\]: The database refused the change$/);
        assertEquals(await logged(), { n: 3 });
        const tries = await run("select tries from counted where id = 2");
        assertEquals(tries, [{ tries: table === "counted" ? 3 : 0 }]);
      });
    }
  }

  if (kind === "embedded") return;

  it("decide on the new state of a row that another request changed, and run the trigger once [U64] [U22]", async () => {
    for (const table of ["queued", "queued_view"]) {
      for (const filters of [{ id: 2, tries: 0 }, { name: "name 2", tries: 0 }]) {
        for (const [change, status] of [["tries = 1", 404], ["name = 'name 2'", 200]] as const) {
          await run(FILL);
          let pending: ReturnType<typeof single> | undefined;
          await holding(conversation, `update queued set ${change} where id = 2`, async () => {
            pending = single(table, { filters, fields: { name: "new" } });
            await awaitBlocked(conversation);
          });
          const response = await pending!;
          if (status === 404) assertMatched(response, 404, 0);
          else assertEquals(assertOk(response)["updated"], 1);
          // One of them is that of the other transaction.
          assertEquals(await logged(), { n: status === 404 ? 1 : 2 });
        }
      }
    }
  });

  it("are rejected without a repetition where row level security allows reading but not updating [U64]", async () => {
    await run(`delete from locked;
      insert into locked values (1, 1, 'name 1', 'open'), (2, 1, 'name 2', 'closed')`);
    for (const filters of [{ id: 2 }, { name: "name 2" }]) {
      const response = await single("locked", { filters, fields: { name: "new" } });
      assertRejected(response, 409, /^The database refused the change$/);
      const updates = [{ filters: { id: 1 }, fields: { name: "one" } }, {
        filters,
        fields: { name: "new" },
      }];
      const undone = await batch("locked", { updates });
      assertRejected(undone, 409, /^updates\[1\]: The database refused the change$/);
    }
    assertEquals(await run("select name from locked order by id"), [
      { name: "name 1" },
      { name: "name 2" },
    ]);
  });
}, { policy: POLICY });
