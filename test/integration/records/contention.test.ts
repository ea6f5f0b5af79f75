import { assert, assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { createTestService } from "../../support/service.ts";
import type { ReceivedResponse, TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openSecondInstance, type SecondInstance } from "./second_instance.ts";

const WORKERS = 16;
const GOAL = 200;
const CLIENTS = 64;

describe("Updates of many clients through two instances of the service", () => {
  let service: TestService;
  let second: SecondInstance;

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table counters (id int4 primary key, tenant_id int4 not null, n int4, note text);
      create table column_granted (id int4 primary key, tenant_id int4 not null, n int4, note text, hidden text);
      create function touch() returns trigger language plpgsql security definer as
        $$ begin insert into trail values (new.id); return new; end $$;
      create table trail (id int4);
      create trigger counters_trail after update on counters for each row execute function touch();
      grant select on counters to rowgate_app;
      grant select (id, tenant_id, n, note) on column_granted to rowgate_app;
      grant update (n, note) on counters, column_granted to rowgate_app;
      notify rowgate_catalogue`);
    second = openSecondInstance(service.database, service.tokens.a);
  });
  after(async () => {
    await second.close();
    await service.close();
  });
  beforeEach(async () => {
    await service.database.admin.unsafe(`truncate counters, column_granted, trail;
      insert into counters select n, 1, 0, 'old' from generate_series(1, 2000) n;
      insert into column_granted select n, 1, 0, 'old' from generate_series(1, 10) n`);
  });

  function update(
    worker: number,
    path: string,
    body: unknown,
    headers = {},
  ): Promise<ReceivedResponse> {
    return instanceOf(worker).send("PATCH", `/integration/tables/${path}`, { body, headers });
  }

  function instanceOf(worker: number): TestService | SecondInstance {
    return worker % 2 === 0 ? service : second;
  }

  async function read(text: string): Promise<unknown> {
    const [row] = await service.database.admin.unsafe(text);
    return row?.["value"];
  }

  for (const table of ["counters", "column_granted"]) {
    it(`loses no compare-and-set of ${WORKERS} workers on ${table} [U22] [CO1] [CO18]`, async () => {
      const known = { n: 0 };
      const count = async (worker: number): Promise<number> => {
        let won = 0;
        while (known.n < GOAL) {
          const { n } = known;
          const body = { filters: { id: 1, n }, fields: { n: n + 1 } };
          const { status, body: reported } = await update(worker, `${table}/records/single`, body);
          if (status === 200) won++;
          else assertEquals([status, reported["matched"]], [404, 0]);
          known.n = Math.max(known.n, n + (status === 200 ? 1 : 0));
        }
        return won;
      };
      const won = await Promise.all(Array.from({ length: WORKERS }, (_, worker) => count(worker)));
      const sum = won.reduce((total, own) => total + own, 0);
      assertEquals(await read(`select n as value from ${table} where id = 1`), sum);
    });

    it(`serves ${CLIENTS} clients of one hot row of ${table} without a failure [U20] [CO9]`, async () => {
      const outcomes = new Set<string>();
      await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
        for (let turn = 0; turn < 6; turn++) {
          const fields = { note: `by ${client}, ${turn}` };
          const path = `${table}/records/single`;
          const { status, body } = await update(client, path, { filters: { id: 2 }, fields });
          outcomes.add(`${status} ${body["matched"]}`);
        }
      }));
      assertEquals([...outcomes], ["200 1"]);
    });
  }

  it("updates every row when two bulks deadlock in opposite order [U32] [E38] [CO5]", async () => {
    // One finds the two rows as they lie, the other by an index that runs the other way.
    await service.database.admin.unsafe(`
      create table ring (id int4 primary key, tenant_id int4 not null, a int4, b int4, note text);
      insert into ring select n, 1, 1 + n / 3, 1 + n / 3, 'old' from generate_series(1, 20000) n;
      create index ring_backwards on ring (tenant_id, b, id desc);
      analyze ring;
      create function linger() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.2); return new; end $$;
      create trigger ring_linger before update on ring for each row execute function linger();
      grant select on ring to rowgate_app;
      grant update (note) on ring to rowgate_app;
      notify rowgate_catalogue`);
    for (const worker of [0, 1]) {
      const path = "/integration/tables/ring/fields";
      await waitUntil(async () => (await instanceOf(worker).send("GET", path)).status === 200);
    }
    const responses = await Promise.all(
      [{ a: 1 }, { b: 1 }].map((filters, worker) =>
        update(worker, "ring/records/bulk", { filters, fields: { note: `by ${worker}` } })
      ),
    );
    assertEquals(responses.map(({ status, body }) => [status, body["updated"]]), [[200, 2], [
      200,
      2,
    ]]);
    const notes = "select count(distinct note)::int4 as value from ring where a = 1";
    assertEquals(await read(notes), 1);
    const deadlocks =
      "select deadlocks > 0 as value from pg_stat_database where datname = current_database()";
    // An idle session reports its counters after ten seconds at the latest.
    for (let tries = 0; tries < 300 && await read(deadlocks) !== true; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assertEquals(await read(deadlocks), true);
  });

  it("writes each row completely when single and bulk updates meet [U32] [U20] [CO6]", async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, (_, worker) => {
      const fields = { n: worker, note: `by ${worker}` };
      return worker % 4 === 0
        ? update(worker, "column_granted/records/bulk", { filters: { tenant_id: 1 }, fields })
        : update(worker, "column_granted/records/single", {
          filters: { id: worker % 10 + 1 },
          fields,
        });
    }));
    assertEquals(new Set(responses.map(({ status }) => status)), new Set([200]));
    assertEquals(
      await read("select bool_and(note = 'by ' || n) as value from column_granted"),
      true,
    );
  });

  for (const path of ["counters/records/single", "counters/records/bulk"]) {
    it(`keeps nothing of ${path} with tx=rollback: rows, versions, audit [U45]`, async () => {
      const state = `select md5(string_agg(c.ctid::text || c.xmin || c::text, ' ' order by id))
        || (select count(*) from trail) as value from counters c`;
      const before = await read(state);
      const responses = await Promise.all(
        Array.from(
          { length: 8 },
          (_, worker) =>
            update(worker, path, { filters: { id: 3 }, fields: { note: "undone" } }, {
              prefer: "tx=rollback",
            }),
        ),
      );
      for (const { status, body } of responses) assertEquals([status, body["updated"]], [200, 1]);
      assertEquals(await read(state), before);
      assert(before !== undefined);
    });
  }
});
