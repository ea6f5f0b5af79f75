import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SCHEMA = `
  create table entries (id int4, tenant_id int4 not null, day int4 not null, region text not null,
    note text, secret text default 'x',
    constraint note_is_short check (length(note) < 5),
    constraint hidden_rule check (note <> 'odd' or secret <> 'x'))
    partition by list (region);
  create table entries_north partition of entries for values in ('north')
    partition by range ((day + 0));
  create table entries_north_1 partition of entries_north for values from (0) to (10);
  alter table entries_north_1 add constraint entries_north_1_rule check (note <> 'part');
  create table copies (id int4, day int4 not null) partition by range (day);
  create table copies_1 partition of copies for values from (0) to (5);
  create domain plain_text as text constraint text_is_plain check (value <> 'bad');
  create table labels (id int4 primary key, tenant_id int4 not null, label text, stored plain_text,
    constraint whole_row check (labels.* is distinct from null and label <> 'row'));
  create function store() returns trigger language plpgsql as $$ begin
    if new.label = 'bad' then new.stored := new.label; end if;
    if new.label = 'copy' then insert into copies values (1, 9); end if;
    return new;
  end $$;
  create trigger stores before update on labels for each row execute function store();
  create view seen_entries as select id, tenant_id, day, region, note from entries;
  insert into entries values (1, 1, 1, 'north', 'old');
  insert into labels values (1, 1, 'old', 'old');
  grant select, update on all tables in schema public to public;
  grant insert on copies to public;`;

const POLICY = {
  tables: {
    entries: { hidden_columns: ["secret"] },
    labels: { hidden_columns: ["stored"] },
    seen_entries: { expose: true, writable: true, primary_key: ["id"] },
  },
};

const NO_PARTITION = "The table has no partition for the new values";
const CHECK = "The new values break a check constraint";

describeService("Checks and partitions", (conversation) => {
  const { single, bulk, batch, run } = conversation;
  before(() => run(SCHEMA));
  const set = (fields: Record<string, unknown>) => ({ filters: { id: 1 }, fields });

  it("values without a partition are rejected at the fields that decide it, and no name is shown [E52]", async () => {
    const message = `${NO_PARTITION}, expected values for which it has one`;
    for (const send of [single, bulk]) {
      for (
        const [path, fields] of [["day", { day: 10 }], ["region", {
          region: "south",
          note: "n",
        }]] as const
      ) {
        const error = assertRejectedAt(await send("entries", set(fields)), `fields.${path}`);
        assertEquals(error, `fields.${path}: ${message}`);
      }
      assertEquals(
        assertRejected(await send("entries", set({ region: "south", day: 2 })), 400),
        `fields.region: ${message}`,
      );
    }
    const updates = [set({ note: "new" }), set({ day: 99 })];
    assertEquals(
      assertRejected(await batch("entries", { updates }), 400),
      `updates[1].fields.day: ${message}`,
    );
    assertEquals(
      assertRejected(await single("seen_entries", set({ day: 10 })), 400),
      `fields: ${NO_PARTITION}`,
    );
    assertEquals(await run("select day, region, note from entries"), [
      { day: 1, region: "north", note: "old" },
    ]);
  });

  it("a check constraint is named only if the table has it and it concerns no hidden column [E32]", async () => {
    const errorOf = async (table: string, fields: Record<string, unknown>) =>
      assertRejected(await single(table, set(fields)), 400);
    assertEquals(
      await errorOf("entries", { note: "longer" }),
      'fields: The new values break the check constraint "note_is_short"',
    );
    for (const note of ["odd", "part"]) {
      assertEquals(await errorOf("entries", { note }), `fields: ${CHECK}`);
    }
    assertEquals(await errorOf("seen_entries", { note: "longer" }), `fields: ${CHECK}`);
    for (const label of ["row", "bad", "copy"]) {
      assertEquals(await errorOf("labels", { label }), `fields: ${CHECK}`);
    }
  });
}, { template: "empty", policy: POLICY });
