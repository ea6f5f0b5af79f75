import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService } from "../../support/service.ts";
import type { ReceivedResponse, TestService } from "../../support/service.ts";

const CLIENTS = 6;

describe("Tables that change while they are used", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real");
  });
  after(() => service?.close());

  async function run(text: string): Promise<void> {
    await service.database.admin.unsafe(text);
  }

  async function make(table: string, type = "int4"): Promise<void> {
    await run(`create table ${table} (id int4 primary key, tenant_id int4 not null, a ${type});
      insert into ${table} select n, 1, '5' from generate_series(1, 20) n;
      grant select, update on ${table} to rowgate_app;
      notify rowgate_catalogue`);
    await soon(() => query(table), ({ status }) => status === 200);
  }

  function query(table: string, body: unknown = {}): Promise<ReceivedResponse> {
    return service.send("POST", `/integration/tables/${table}/query`, { body });
  }

  function update(
    table: string,
    which: "single" | "bulk",
    body: unknown,
  ): Promise<ReceivedResponse> {
    return service.send("PATCH", `/integration/tables/${table}/records/${which}`, { body });
  }

  /** Uses a table from many clients while something is done to it; returns their responses. */
  async function use(
    table: string,
    change: () => Promise<void>,
  ): Promise<readonly ReceivedResponse[]> {
    const responses: ReceivedResponse[] = [];
    const state = { changing: true };
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let turn = client; state.changing; turn++) {
        const fields = { a: String(turn % 9) };
        const filter = { and: [{ field: "a", op: "gte", value: "0" }] };
        responses.push(
          await [
            () => query(table, { filters: filter, sort: [{ field: "a" }], select: ["id", "a"] }),
            () => update(table, "single", { filters: { id: 1 + turn % 20 }, fields }),
            () => update(table, "bulk", { filters: { tenant_id: 1, id: client }, fields }),
          ][turn % 3]!(),
        );
      }
    });
    try {
      while (responses.length < 3 * CLIENTS) await pause(5);
      await change();
      await pause(300);
    } finally {
      state.changing = false;
      await Promise.all(clients);
    }
    return responses;
  }

  it("stay available while columns are added, and show them [CO13]", async () => {
    await make("growing");
    const responses = await use("growing", async () => {
      for (let n = 1; n <= 8; n++) {
        await run(
          `alter table growing add column c${n} int4 default ${n}; notify rowgate_catalogue`,
        );
        await pause(30);
      }
    });
    assertEquals(statuses(responses), [200]);
    const found = await soon(
      () => query("growing", { filters: { and: [{ field: "c8", op: "eq", value: 8 }] } }),
      ({ status }) => status === 200,
    );
    assertEquals(found.body.total, 20);
  });

  it("are read again when a column takes another type, with and without a notification [CO14]", async () => {
    await make("retyped");
    const responses = await use("retyped", async () => {
      for (const type of ["int8", "text", "numeric", "int4", "text"]) {
        await run(`alter table retyped alter column a type ${type} using a::text::${type}`);
        await pause(60);
      }
    });
    assert(statuses(responses).includes(200));
    // A request that met two changes was repeated once, and failed again.
    for (const { status, text } of responses) {
      assert(status === 200 || text.includes("The database cannot do this with"), text);
    }
    assertEquals((await query("retyped")).status, 200);
    // The tables are read again once a second at most.
    const written = await soon(
      () => update("retyped", "bulk", { filters: { id: 1 }, fields: { a: "x" } }),
      ({ status }) => status === 200,
    );
    assertEquals(written.status, 200, written.text);
  });

  it("answer 400 for a renamed column and 404 for a dropped table [CO14]", async () => {
    await make("renamed");
    const renamed = await use("renamed", () => run("alter table renamed rename column a to b"));
    assertEquals(statuses(renamed), [200, 400]);
    for (const { status, text } of renamed) assert(status === 200 || text.includes('"a\\"'), text);
    await run("alter table renamed rename column b to a; notify rowgate_catalogue");
    await soon(() => query("renamed", { select: ["a"] }), ({ status }) => status === 200);
    assertEquals(statuses(await use("renamed", () => run("drop table renamed"))), [200, 404]);
  });

  it("accept values by the type of a column that was dropped and created again [CO15]", async () => {
    await make("remade", "text");
    const fresh = (which: "single" | "bulk", a: unknown) =>
      update("remade", which, { filters: { id: 1 }, fields: { a } });
    assertEquals((await fresh("single", "x")).status, 200);
    await run("alter table remade drop column a; alter table remade add column a date");
    const taken = ({ status }: ReceivedResponse) => status === 200;
    assert(taken(await soon(() => fresh("single", "2026-01-31"), taken)));
    assertEquals((await fresh("bulk", "x")).status, 400);
    await run("alter table remade drop column a; alter table remade add column a int4[]");
    assertEquals((await soon(() => fresh("bulk", [1, 2]), taken)).body.updated, 1);
    const [record] =
      (await query("remade", { filters: { and: [{ field: "id", op: "eq", value: 1 }] } }))
        .body.records as { a: unknown }[];
    assertEquals(record?.a, [1, 2]);
  });

  it("appear and disappear together, so that no request sees half a catalogue [CO16]", async () => {
    const state = { changing: true };
    const changing = (async () => {
      while (state.changing) {
        await run(`create table twin_a (id int4 primary key, tenant_id int4 not null, note text);
          create table twin_b (id int4 primary key, tenant_id int4 not null, note text);
          grant select on twin_a, twin_b to rowgate_app; notify rowgate_catalogue`);
        await pause(30);
        await run("drop table twin_a, twin_b; notify rowgate_catalogue");
        await pause(30);
      }
    })();
    const seen = new Map<string, number>();
    try {
      for (let asked = 0; asked < 5000 && Math.min(...seenTimes(seen)) < 5; asked++) {
        await pause(5);
        const { body } = await service.send("GET", "/integration/tables");
        const names = (body.tables as { name: string }[]).map(({ name }) => name);
        assert(names.includes("deals"), names.join());
        const twins = names.filter((name) => name.startsWith("twin_")).join();
        seen.set(twins, (seen.get(twins) ?? 0) + 1);
        const fields = await service.send("GET", "/integration/tables/twin_a/fields");
        assert([200, 404].includes(fields.status), fields.text);
        if (fields.status === 200) assertEquals((fields.body.fields as unknown[]).length, 3);
      }
    } finally {
      state.changing = false;
      await changing;
    }
    assertEquals([...seen.keys()].sort(), ["", "twin_a,twin_b"]);
  });
});

function seenTimes(seen: ReadonlyMap<string, number>): number[] {
  return ["", "twin_a,twin_b"].map((twins) => seen.get(twins) ?? 0);
}

/** The statuses of responses, each once, ascending. */
function statuses(responses: readonly ReceivedResponse[]): number[] {
  assert(responses.length > CLIENTS, `${responses.length} responses`);
  const found = new Map(responses.map((response) => [response.status, response]));
  for (const [status, { text }] of found) assert(status < 500, `${status} ${text}`);
  return [...found.keys()].sort();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The catalogue is read again at most once a second. */
async function soon(
  send: () => Promise<ReceivedResponse>,
  enough: (response: ReceivedResponse) => boolean,
): Promise<ReceivedResponse> {
  for (let attempt = 0;; attempt++) {
    const response = await send();
    if (enough(response) || attempt > 100) return response;
    await pause(50);
  }
}
