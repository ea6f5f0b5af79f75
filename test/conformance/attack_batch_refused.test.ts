import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { FIXTURE_POLICY } from "../support/fixture_policy.ts";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** A view, a table with grants on its columns alone, one with a rule, and one that is as usual. */
const SCHEMA = `
create function refuse_notes() returns trigger language plpgsql as $$ begin
  if new.note = 'raised' then raise exception 'not this note'; end if;
  if new.note = 'unique' then raise unique_violation; end if;
  if new.note = 'odd' then raise exception 'SECRET' using errcode = 'ZX001'; end if;
  return new;
end $$;
create table usual (id int4 primary key, tenant_id int4 not null, code text,
  note text constraint usual_note_check check (note <> 'checked'));
create table granted (like usual including all);
create table ruled (like usual including all);
create rule keep as on update to ruled where old.id = 9 do instead nothing;
create view seen as select id, tenant_id, code, note from usual;
do $$ declare name text; begin
  foreach name in array array['usual', 'granted', 'ruled'] loop
    execute format('insert into %I select n, 1, ''c'' || n, ''old'' from generate_series(1, 3) n', name);
    execute format('create trigger refuse before update on %I
      for each row execute function refuse_notes()', name);
  end loop;
end $$;
grant select, update on usual, ruled, seen to public;
grant select (id, tenant_id, code, note), update (note) on granted to public;`;

const POLICY = {
  tables: {
    ...FIXTURE_POLICY.tables,
    seen: { expose: true, primary_key: ["id"], writable: true },
  },
};

describeService("Batches that lock first and whose write is refused", (conversation) => {
  const { query, batch, run } = conversation;
  before(async () => {
    await run(SCHEMA);
    await waitUntil(async () => (await query("granted")).status === 200);
  });

  for (const table of ["seen", "granted", "ruled", "usual"]) {
    it(`reports each rejection at the update of ${table} that caused it [BA9]`, async () => {
      const send = async (status: number, ...notes: readonly string[]) => {
        const updates = notes.map((note, n) => ({
          filters: { code: `c${n + 1}` },
          fields: { note },
        }));
        return assertRejected(await batch(table, { updates }), status);
      };
      const conflict = "The new values conflict with existing data: they break a unique key";
      assertEquals(await send(400, "raised"), "updates[0]: not this note");
      assertEquals(await send(400, "fine", "raised"), "updates[1]: not this note");
      assertEquals(await send(400, "odd", "fine"), "updates[0]: The database refused the change");
      assertEquals(await send(409, "fine", "unique", "fine"), `updates[1]: ${conflict}`);
      const check = table === "seen"
        ? "The new values break a check constraint"
        : 'The new values break the check constraint "usual_note_check"';
      assertEquals(await send(400, "fine", "checked"), `updates[1].fields: ${check}`);
      const rows = await run(`select distinct note from ${table}`);
      assertEquals(rows, [{ note: "old" }]);
      const updates = [{ filters: { code: "c1" }, fields: { note: "old" } }];
      assertOk(await batch(table, { updates }));
    });
  }
}, { policy: POLICY });
