import { assert, assertEquals, assertMatch } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { IS_REMOTE } from "../support/service.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

const SCHEMA = `
create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
create function away() returns trigger language plpgsql as $$ begin
  update inner_rows set tenant_id = 2 where id = new.id; return new; end $$;
create table keyless (id int4, tenant_id int4 not null, name text);
create trigger later after update on keyless for each row execute function nothing();
create table keyless_plain (id int4, tenant_id int4 not null, name text);
create trigger later after update on keyless_plain for each row execute function nothing();
alter table keyless_plain disable trigger later;
create table inner_rows (id int4 primary key, tenant_id int4 not null, name text);
create view instead_seen as select * from inner_rows;
create trigger away instead of update on instead_seen for each row execute function away();
create view over_instead as select * from instead_seen;
create view rule_seen as select * from inner_rows;
create rule away as on update to rule_seen do instead
  update inner_rows set tenant_id = 2 where id = old.id returning old.*;
create view plain_seen as select * from inner_rows;
insert into keyless values (1, 1, 'one');
insert into keyless_plain values (1, 1, 'one');
insert into inner_rows values (1, 1, 'one');
grant select, update on keyless, keyless_plain, instead_seen, over_instead, rule_seen, plain_seen to public;`;

const view = { expose: true, writable: true, primary_key: ["id"] };
const POLICY = {
  tables: { instead_seen: view, over_instead: view, rule_seen: view, plain_seen: view },
};

const SAYS_WHY: readonly (readonly [string, RegExp])[] = [
  ["keyless", /^because a trigger, a rule or another server may change a row after it was written/],
  ["instead_seen", /^because Postgres does not update it by itself/],
  ["over_instead", /^because Postgres does not update it by itself/],
  ["rule_seen", /^because Postgres does not update it by itself/],
];

describeService("Tables whose updates could not be checked", (conversation) => {
  const { single, bulk, batch, query, run, service } = conversation;
  before(() => run(SCHEMA));
  const filters = { id: 1 };
  const update = { filters, fields: { name: "new" } };

  for (const table of ["keyless", "instead_seen", "over_instead", "rule_seen"]) {
    it(`are read-only: ${table} [T86]`, async () => {
      assertRejected(await single(table, update), 403);
      assertRejected(await bulk(table, update), 403);
      assertRejected(await batch(table, { updates: [update] }), 403);
      assertEquals(assertOk(await query(table))["total"], 1);
      assertEquals(await run("select tenant_id, name from inner_rows"), [
        { tenant_id: 1, name: "one" },
      ]);
    });
  }

  it("are written where no trigger is enabled, or Postgres updates the view itself [T86]", async () => {
    for (const table of ["keyless_plain", "plain_seen"]) {
      assertEquals(assertOk(await single(table, update))["updated"], 1);
    }
  });

  it("are named in the log, with the reason [T86]", () => {
    if (IS_REMOTE) return;
    const messages = service().observations.map((each) =>
      each.kind === "warning" ? each.message : ""
    );
    const about = (text: string) => messages.some((message) => message.includes(text));
    assert(
      about('table "keyless": cannot be updated, because a trigger, a rule or another server'),
    );
    assert(
      about("tables.instead_seen.writable: ignored, because Postgres does not update this view"),
    );
  });

  it("are reported by doctor with the reason, and no other tables are [T86]", async () => {
    if (IS_REMOTE) return;
    const { tables } = await service().catalogue.current();
    for (const [name, reason] of SAYS_WHY) assertMatch(tables.get(name)!.uncheckable!, reason);
    for (const name of ["keyless_plain", "plain_seen"]) {
      assertEquals(tables.get(name)!.uncheckable, undefined);
    }
  });
}, { policy: POLICY });
