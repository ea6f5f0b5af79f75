import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { ABSENT, findUnexplained } from "../../support/history.ts";
import { readRuns, readSeed } from "../../support/seed.ts";
import { createTestService } from "../../support/service.ts";
import type { ReceivedResponse, TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { CONTESTED_TABLES, makeContestedTables } from "./contested_tables.ts";
import { openRecorder, type Step, type Update } from "./recorder.ts";
import { openWriteRecorder, type WriteStep } from "./write_recorder.ts";
import { openSecondInstance, type SecondInstance } from "./second_instance.ts";

const CLIENTS = 8;
const ROWS = 8;
/** Of each table; 5,000 together. */
const STEPS = 1000;
const TRANSFERS = 12 * CLIENTS;
const AMOUNT = 7;
/** What each row has at first: no order of transfers takes it below zero, where the rule rejects it. */
const ENOUGH = TRANSFERS * AMOUNT;
/** Of all writes, on rows that are there or not. */
const WRITE_STEPS = 800;
const WRITE_STEP = fc.record<WriteStep>({
  kind: fc.constantFrom("create", "delete", "upsert", "swap", "clear", "batch", "read"),
  id: fc.integer({ min: 1, max: ROWS }),
});
/** Those with a key, which creates and upserts need to meet. */
const KEYED = CONTESTED_TABLES.filter(({ name }) => name === "keyed" || name === "parted");
/** Those that need no setting of the session. */
const TABLES = CONTESTED_TABLES.filter(({ name }) => name !== "lockable");

const STEP = fc.record<Step>({
  kind: fc.constantFrom("swap", "swap", "swap", "read", "read", "bulk", "page"),
  id: fc.integer({ min: 1, max: ROWS }),
  stale: fc.integer({ min: 0, max: 4 }).map((chance) => chance === 0),
});

describe("What many clients do at once through two instances", () => {
  let service: TestService;
  let second: SecondInstance;

  before(async () => {
    service = await createTestService("real");
    await makeContestedTables(service.database.admin);
    second = openSecondInstance(service.database, service.tokens.a);
  });
  after(async () => {
    await second?.close();
    await service?.close();
  });

  function send(client: number, path: string, body: unknown): Promise<ReceivedResponse> {
    const instance = client % 2 === 0 ? service : second;
    const method = path.endsWith("/query") ? "POST" : "PATCH";
    return instance.send(method, `/integration/tables/${path}`, { body });
  }

  async function fill(table: string): Promise<void> {
    await service.database.admin.unsafe(`truncate ${table};
      insert into ${table} (id, tenant_id, state, note, n)
        select n, 1, 'even ' || n % 2, 'v0', 0 from generate_series(1, ${ROWS}) n`);
  }

  for (const { name, what } of TABLES) {
    it(`is equal to some sequential order for each row of ${what} [CO4] [CO6] [CO18]`, async () => {
      const seed = readSeed();
      const steps = readRuns(STEPS);
      console.info(`    ROWGATE_TEST_SEED=${seed} ROWGATE_TEST_RUNS=${steps}`);
      await fill(name);
      const plan = fc.sample(STEP, { seed, numRuns: steps });
      const recorder = openRecorder(name, send);
      await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
        for (let at = client; at < plan.length; at += CLIENTS) {
          await recorder.take(client, plan[at]!);
        }
      }));
      // The end is read like any other state, after all of it.
      await recorder.take(0, { kind: "page", id: 1, stale: false });
      await recorder.take(0, { kind: "page", id: 2, stale: false });
      for (let id = 1; id <= ROWS; id++) {
        const unexplained = findUnexplained(recorder.eventsOf(id), "v0 0");
        const shown = unexplained?.map(({ start, end, what }) => `${start}-${end} ${what}`).join(
          "\n",
        );
        assertEquals(shown, undefined, `row ${id}, seed ${seed}:\n${shown}`);
      }
      const { swap, miss, write } = recorder.counts();
      assert(swap > steps / 50 && miss > 0 && write > 0, `${swap} ${miss} ${write}`);
    });

    it(`keeps the sum of what is moved between rows of ${what} [CO3] [CO18]`, async () => {
      const seed = readSeed();
      console.info(`    ROWGATE_TEST_SEED=${seed}`);
      await fill(name);
      await service.database.admin.unsafe(`update ${name} set n = ${ENOUGH}`);
      const transfers = fc.sample(
        fc.tuple(fc.integer({ min: 1, max: ROWS }), fc.integer({ min: 1, max: ROWS })),
        { seed, numRuns: TRANSFERS },
      );
      await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
        for (let at = client; at < transfers.length; at += CLIENTS) {
          const [from, to] = transfers[at]!;
          await add(client, { table: name, id: from, amount: -AMOUNT });
          await add(client, { table: name, id: to, amount: AMOUNT });
        }
      }));
      const [row] = await service.database.admin.unsafe(`select sum(n)::int4 as sum from ${name}`);
      assertEquals(row!.sum, ROWS * ENOUGH);
    });
  }

  for (const { name, what } of KEYED) {
    it(`creates, upserts, updates and deletes each row of ${what} in some sequential order [CO4] [CO18]`, async () => {
      const seed = readSeed();
      const steps = readRuns(WRITE_STEPS);
      console.info(`    ROWGATE_TEST_SEED=${seed} ROWGATE_TEST_RUNS=${steps}`);
      const { admin } = service.database;
      await admin.unsafe(`truncate ${name}; alter table ${name} alter state set default 'new';
        grant insert, delete on ${name} to rowgate_app; notify rowgate_catalogue`);
      const token = await service.issue({ scopes: ["query", "update", "create", "delete"] });
      const recorder = openWriteRecorder(
        name,
        (client, { method, path, ...options }) =>
          (client % 2 === 0 ? service : second)
            .send(method, `/integration/tables/${path}`, { ...options, token }),
      );
      for (const instance of [service, second]) {
        await waitUntil(async () => {
          const { body } = await instance.send("GET", "/integration/tables", { token });
          const tables = body.tables as { name: string; creatable: boolean; deletable: boolean }[];
          const table = tables.find((each) => each.name === name);
          return table !== undefined && table.creatable && table.deletable;
        });
      }
      const plan = fc.sample(WRITE_STEP, { seed, numRuns: steps });
      await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
        for (let at = client; at < plan.length; at += CLIENTS) {
          await recorder.take(client, plan[at]!);
        }
      }));
      for (let id = 1; id <= ROWS; id++) {
        await recorder.take(0, { kind: "read", id });
        const unexplained = findUnexplained(recorder.eventsOf(id), ABSENT);
        const shown = unexplained?.map(({ start, end, what }) => `${start}-${end} ${what}`).join(
          "\n",
        );
        assertEquals(shown, undefined, `row ${id}, seed ${seed}:\n${shown}`);
      }
      const { swap = 0, miss = 0, replace = 0 } = recorder.counts();
      assert(swap > steps / 10 && miss > 0 && replace > 0, JSON.stringify(recorder.counts()));
    });
  }

  /** Adds to a row, unless another client did so meanwhile. */
  async function add(
    client: number,
    { table, id, amount }: { table: string; id: number; amount: number },
  ): Promise<void> {
    for (;;) {
      const read = await send(client, `${table}/query`, {
        filters: { and: [{ field: "id", op: "eq", value: id }] },
      });
      const [{ n }] = read.body.records as [{ n: number }];
      const update: Update = { filters: { id, n }, fields: { n: n + amount } };
      const { status, text } = await send(client, `${table}/records/single`, update);
      if (status === 200) return;
      assertEquals(status, 404, text);
    }
  }
});
