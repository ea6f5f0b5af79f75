import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import type { ReceivedResponse, TestService } from "../../support/service.ts";
import { createTestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

const ROUNDS = 4;
const CLIENTS = 4;

describe("a table that is dropped while it is in use", () => {
  let service: TestService;
  before(async () => {
    service = await createTestService("real", { environment: { ROWGATE_POOL_SIZE: "20" } });
  });
  after(() => service?.close());

  /** Reads, updates by key, by another column and in bulk: each is a statement of its own form. */
  function requestsOf(table: string) {
    const path = `/integration/tables/${table}`;
    const patch = (way: "single" | "bulk", filters: unknown) => (): Promise<ReceivedResponse> =>
      service.send("PATCH", `${path}/records/${way}`, {
        body: { filters, fields: { note: crypto.randomUUID() } },
      });
    return [
      () => service.send("POST", `${path}/query`, { body: {} }),
      patch("single", { id: 1 }),
      patch("single", { name: "two" }),
      patch("bulk", { name: "three" }),
    ];
  }

  it("is used until then, and not found from then on [T40]", async () => {
    const { admin } = service.database;
    for (let round = 0; round < ROUNDS; round++) {
      const table = `doomed_${round}`;
      await admin.unsafe(`
        create table ${table} (id int4 primary key, tenant_id int4 not null, name text, note text);
        insert into ${table} values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three');
        grant select, update on ${table} to rowgate_app`);
      const requests = requestsOf(table);
      await waitUntil(async () => (await requests[0]!()).status === 200);
      const seen = requests.map((): ReceivedResponse[] => []);
      let ended = false;
      const clients = requests.flatMap((ask, index) =>
        Array.from({ length: CLIENTS }, async () => {
          while (!ended) seen[index]!.push(await ask());
        })
      );
      await waitUntil(() => Promise.resolve(seen.every(({ length }) => length > 10)));
      await admin.unsafe(`drop table ${table}`);
      await waitUntil(() =>
        Promise.resolve(seen.every((responses) => responses.at(-1)?.status === 404))
      );
      ended = true;
      await Promise.all(clients);
      const isGone = ({ status, body }: ReceivedResponse) =>
        status === 404 && body.error === `table: "${table}" was not found`;
      const other = seen.flat().filter((response) => response.status !== 200 && !isGone(response));
      assertEquals(other.map(({ text }) => text), []);
      assert(seen.every((responses) => responses.some(({ status }) => status === 200)));
    }
  });
});
