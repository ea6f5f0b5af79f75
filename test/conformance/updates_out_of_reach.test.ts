import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

/** In each table, a row with the title `move` ends up where the client cannot see it. */
const MOVES = "case when title = 'move' then 2 else 1 end";
const COLUMNS = "title text not null default 'stay', note text, kind text not null default 'k'";
const ROWS = "(id, note) select n, 'note ' || n from generate_series(1, 4) n";

function moveBy(table: string, assignment: string, when = "before update"): string {
  return `create function ${table}_move() returns trigger language plpgsql as $$ begin
      if new.title = 'move' then new.${assignment}; end if; return new; end $$;
    create trigger ${table}_move ${when} on ${table} for each row execute function ${table}_move();`;
}

/** Makes a function that moves rows after they were written. */
function laterMove(table: string, assignment: string): string {
  return `create function ${table}_later() returns trigger language plpgsql security definer as $$ begin
      if exists (select from ${table} where title = 'move' and not (${assignment})) then
        update ${table} set ${assignment} where title = 'move';
      end if;
      return null; end $$;`;
}

const SCHEMA = `
create table computed (id int4 primary key, ${COLUMNS},
  tenant_id int4 generated always as (${MOVES}) stored);
insert into computed ${ROWS};
create table moved (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into moved ${ROWS};
${moveBy("moved", "tenant_id := 2")}
create table orphaned (id int4 primary key, tenant_id int4 default 1, ${COLUMNS});
insert into orphaned ${ROWS};
${moveBy("orphaned", "tenant_id := null")}
create domain tenant_number as int4 check (value > 0);
create table domained (id int4 primary key, tenant_id tenant_number not null default 1, ${COLUMNS});
insert into domained ${ROWS};
${moveBy("domained", "tenant_id := 2")}
create table filtered (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS},
  state text not null default 'open');
insert into filtered ${ROWS};
${moveBy("filtered", "state := 'gone'")}
create table filtered_computed (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS},
  state text generated always as (case when title = 'move' then null else 'open' end) stored);
insert into filtered_computed ${ROWS};
create table branched (id int4 primary key, firm int4 not null default 1,
  branch text not null default 'a', ${COLUMNS});
insert into branched ${ROWS};
${moveBy("branched", "branch := 'b'")}
create table houses (id int4 primary key, tenant_id int4 not null);
insert into houses values (1, 1), (2, 2);
create table floors (id int4 primary key, house_id int4 default 1 references houses, ${COLUMNS});
insert into floors ${ROWS};
${moveBy("floors", "house_id := 2")}
create table stairs (id int4 primary key, ${COLUMNS},
  house_id int4 generated always as (${MOVES}) stored references houses);
insert into stairs ${ROWS};
create table beneath (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into beneath ${ROWS};
create view seen as select id, title, note, kind, ${MOVES} as tenant_id from beneath;
create table parted (id int4 not null, tenant_id int4 not null default 1, ${COLUMNS})
  partition by list (title);
create table parted_moved partition of parted for values in ('move');
create table parted_other partition of parted default;
insert into parted ${ROWS};
${moveBy("parted_moved", "tenant_id := 2", "before insert")}
create table after_row (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into after_row ${ROWS};
${laterMove("after_row", "tenant_id = 2")}
create trigger later after update on after_row for each row execute function after_row_later();
create table after_all (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into after_all ${ROWS};
${laterMove("after_all", "tenant_id = 2")}
create trigger later after update on after_all execute function after_all_later();
create table deferred (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS},
  state text not null default 'open');
insert into deferred ${ROWS};
${laterMove("deferred", "state = 'gone'")}
create constraint trigger later after update on deferred deferrable initially deferred
  for each row execute function deferred_later();
create table ruled (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into ruled ${ROWS};
create table ruled_log (id int4, tenant_id int4 not null default 1);
create function ruled_earlier() returns trigger language plpgsql security definer as $$ begin
  update ruled set tenant_id = 2 where id = new.id; return null; end $$;
create trigger earlier after insert on ruled_log for each row execute function ruled_earlier();
create rule note as on update to ruled where new.title = 'move' and new.tenant_id = 1
  do also insert into ruled_log values (old.id);
create table after_seen_base (id int4 primary key, tenant_id int4 not null default 1, ${COLUMNS});
insert into after_seen_base ${ROWS};
${laterMove("after_seen_base", "tenant_id = 2")}
create trigger later after update on after_seen_base execute function after_seen_base_later();
create view after_seen as select * from after_seen_base;
grant insert on ruled_log to public;
grant select, update on after_row, after_all, deferred, ruled, after_seen to public;
grant select, update on computed, moved, orphaned, domained, filtered, filtered_computed, branched,
  floors, stairs, seen, parted to public;
grant select, update on houses to public;`;

const only = { and: [{ field: "state", op: "eq", value: "open" }] };
const tenant_via = { columns: ["house_id"], table: "houses" };
const POLICY = {
  tables: {
    filtered: { only },
    filtered_computed: { only, hidden_columns: ["state"] },
    branched: { tenant_columns: ["firm", "branch"] },
    floors: { tenant_via },
    stairs: { tenant_via },
    deferred: { only },
    after_seen: { expose: true, writable: true, primary_key: ["id"] },
    seen: { expose: true, writable: true, primary_key: ["id"] },
  },
};

const TABLES = [
  "computed",
  "moved",
  "orphaned",
  "domained",
  "filtered",
  "filtered_computed",
  "branched",
  "floors",
  "stairs",
  "seen",
  "parted",
  "after_row",
  "after_all",
  "deferred",
  "ruled",
  "after_seen",
];
const BENEATH: Readonly<Record<string, string>> = {
  seen: "beneath",
  after_seen: "after_seen_base",
};
const OUT_OF_REACH = /^A row would be out of reach after the change; nothing was changed$/;

/**
 * The rule of this table moves the row away before it is written, so nothing is left to write: a batch
 * ends there, before it reads rows again.
 */
const describeIn = (table: string) =>
  table === "ruled"
    ? /^updates\[1\]: The database refused the change$/
    : /^updates\[1\]: A row would be out of reach after the change/;

describeService("Rows that an update would take out of reach", (conversation) => {
  const { single, bulk, batch, run, service } = conversation;
  let branch = "";
  before(async () => {
    await run(SCHEMA);
    branch = await service().issue({ tenant: "1/a" });
  });

  const stored = (table: string) =>
    run(`select id, title from ${BENEATH[table] ?? table} order by id`);
  const optionsFor = (table: string, prefer?: string, key?: string): SendOptions => ({
    ...table === "branched" ? { token: branch } : {},
    headers: {
      ...prefer === undefined ? {} : { prefer },
      ...key === undefined ? {} : { "idempotency-key": `"${table} ${key}"` },
    },
  });
  const fields = { title: "move" };

  for (const table of TABLES) {
    it(`are rejected in ${table} by a single update, however it is run [T80] [E48] [TE23]`, async () => {
      const before = await stored(table);
      for (const filters of [{ id: 1 }, { note: "note 1" }]) {
        for (const prefer of [undefined, "tx=rollback", "max-affected=1"]) {
          const response = await single(table, { filters, fields }, optionsFor(table, prefer));
          assertRejected(response, 409, OUT_OF_REACH);
        }
        for (const key of ["first", "first"]) {
          const options = optionsFor(table, undefined, `${key} ${Object.keys(filters)}`);
          const response = await single(table, { filters, fields }, options);
          assertRejected(response, 409, OUT_OF_REACH);
        }
      }
      assertEquals(await stored(table), before);
      assertEquals(await run(`select 1 from rowgate.audit where table_name = '${table}'`), []);
    });

    it(`are rejected in ${table} by a bulk update, for one row of many [T80] [TE23]`, async () => {
      const before = await stored(table);
      for (const filters of [{ id: 1 }, { kind: "k" }]) {
        for (const prefer of [undefined, "tx=rollback", "max-affected=9"]) {
          for (const key of [undefined, `bulk ${Object.keys(filters)} ${prefer}`]) {
            const options = optionsFor(table, prefer, prefer === "tx=rollback" ? undefined : key);
            const response = await bulk(table, { filters, fields }, options);
            assertRejected(response, 409, OUT_OF_REACH);
          }
        }
      }
      assertEquals(await stored(table), before);
    });

    it(`are rejected in ${table} at their place by a batch, which is undone [T80] [TE23]`, async () => {
      const before = await stored(table);
      for (const filters of [{ id: 1 }, { note: "note 1" }]) {
        const updates = [
          { filters: { id: 2 }, fields: { title: "other" } },
          { filters, fields },
          { filters: { id: 3 }, fields: { title: "other" } },
        ];
        for (const prefer of [undefined, "tx=rollback"]) {
          const response = await batch(table, { updates }, optionsFor(table, prefer));
          assertRejected(
            response,
            409,
            describeIn(table),
          );
        }
      }
      assertEquals(await stored(table), before);
    });

    it(`are rejected in ${table} without affecting other updates that are sent together [T80] [TE23]`, async () => {
      const titles = ["one", "move", "three", "four"];
      const responses = await Promise.all(
        titles.map((title, place) =>
          single(table, { filters: { id: place + 1 }, fields: { title } }, optionsFor(table))
        ),
      );
      assertRejected(responses[1]!, 409, OUT_OF_REACH);
      for (const place of [0, 2, 3]) assertEquals(assertOk(responses[place]!)["updated"], 1);
      assertEquals(
        (await stored(table)).map((row) => row["title"]),
        ["one", "stay", "three", "four"],
      );
    });
  }
}, { policy: POLICY, environment: { ROWGATE_AUDIT: "on" } });
