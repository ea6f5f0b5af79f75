import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import {
  createTestService,
  type ReceivedResponse,
  type TestService,
} from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openOtherSession } from "./other_session.ts";
import { openSecondInstance, type SecondInstance } from "./second_instance.ts";

const PATH = "/integration/tables/steps/records/batch";

/** Two batches of one tenant can only meet on two instances: each runs one of its transactions at a time. */
describe("two batches that take the same rows in opposite order", () => {
  let service: TestService;
  let other: SecondInstance;
  const observed: Observation[] = [];

  before(async () => {
    service = await createTestService("real");
    await service.database.admin.unsafe(`
      create table steps (id int4 primary key, tenant_id int4 not null, part text, n int4, note text);
      grant select, update (n, note) on steps to rowgate_app;
      notify rowgate_catalogue`);
    other = openSecondInstance(service.database, service.tokens.a, {}, {
      observe: (observation) => void observed.push(observation),
    });
    const path = "/integration/tables/steps/query";
    for (const { send } of [service, other]) {
      await waitUntil(async () => (await send("POST", path, { body: {} })).status === 200);
    }
  });
  after(async () => {
    await other?.close();
    await service?.close();
  });

  const countRetries = () =>
    [...service.observations, ...observed].filter((observation) =>
      observation.kind === "retry" && observation.fault === "serialization"
    ).length;

  /**
   * Each batch has its first row when both wait for the one in the middle, and then needs the other's. One
   * of them is the victim, and may be again when it is back before the other has taken its last row.
   */
  async function collide(
    update: (id: number, worker: number) => unknown,
  ): Promise<ReceivedResponse[]> {
    const { admin } = service.database;
    await admin.unsafe(`truncate steps;
      insert into steps select n, 1, 'p' || n, 0 from generate_series(1, 3) n`);
    const before = countRetries();
    const session = await openOtherSession(admin);
    try {
      await session.run("begin; select from steps where id = 2 for update");
      const responses = Promise.all([service, other].map(({ send }, worker) => {
        const ids = worker === 0 ? [1, 2, 3] : [3, 2, 1];
        return send("PATCH", PATH, { body: { updates: ids.map((id) => update(id, worker)) } });
      }));
      await session.awaitBlocked(2);
      await session.run("commit");
      const all = await responses;
      const retries = countRetries() - before;
      // At most three for each batch: see `repeat` in with_session.ts.
      assert(retries >= 1 && retries <= 6, `${retries} retries`);
      return all;
    } finally {
      await session.close();
    }
  }

  for (const what of ["by key", "by other filters"] as const) {
    const filtersOf = (id: number) => what === "by key" ? { id } : { part: `p${id}` };

    it(`runs the victim of a deadlock again, and both are carried out, ${what} [U59] [E38]`, async () => {
      const responses = await collide((id, worker) => ({
        filters: filtersOf(id),
        fields: { note: `by ${worker}` },
      }));
      assertEquals(responses.map(({ status }) => status), [200, 200]);
      const rows = await service.database.admin`select distinct note from steps`;
      assertEquals(rows.length, 1, "the later batch is there as a whole");
    });

    it(`carries out one of two that compare and set, ${what} [U59] [E38]`, async () => {
      const responses = await collide((id, worker) => ({
        filters: { ...filtersOf(id), n: 0 },
        fields: { n: 1, note: `by ${worker}` },
      }));
      const won = responses.findIndex(({ status }) => status === 200);
      assertEquals(responses.map(({ status }) => status).sort(), [200, 404]);
      const lost = responses[1 - won]!;
      assertEquals(lost.body["matched"], 0);
      assert(String(lost.body["error"]).startsWith("updates[0]: "), lost.text);
      const rows = await service.database.admin`select distinct n, note from steps`;
      assertEquals(rows.map(({ n, note }) => [n, note]), [[1, `by ${won}`]]);
    });
  }
});
