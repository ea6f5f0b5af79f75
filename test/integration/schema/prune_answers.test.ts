import { assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import type { Database } from "../../../src/database/postgres/database.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { keepAnswersPruned, pruneAnswers } from "../../../src/database/schema/prune_answers.ts";
import { PRUNED_ROWS } from "../../../src/database/schema/prune_oldest.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { openSubject } from "../database/open_subject.ts";

for (const kind of DATABASE_KINDS) {
  describe(`the retention of answers on ${kind}`, () => {
    let test: TestDatabase;
    let database: Database;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      ({ database } = openSubject(test));
      await migrateSchema(database);
    });
    after(async () => {
      await database?.close(1000);
      await test?.drop();
    });
    beforeEach(async () => void await test.admin`truncate rowgate.idempotency_keys`);

    /** Inserts answers: the first is as many hours old, each further one a second older. */
    const fill = (rows: number, hours: number) =>
      test.admin.unsafe(`insert into rowgate.idempotency_keys (token_id, key, request, at, answer)
        select 't', sha256(concat(${hours}, ' ', n)::bytea), sha256(''),
          now() - interval '${hours} hours' - n * interval '1 second', '[1]'
        from generate_series(0, ${rows - 1}) n`);

    const left = async () =>
      (await test.admin`select count(*)::int4 as n from rowgate.idempotency_keys`)[0]!["n"];

    /** Runs the retention until it reports something. */
    const observeFirst = () =>
      new Promise<Observation>((resolve) => {
        const retention = keepAnswersPruned(database, {
          hours: 24,
          firstMs: 0,
          observe(observation) {
            retention.close();
            resolve(observation);
          },
        });
      });

    it("deletes old answers in batches, and nothing else [IK20]", async () => {
      await fill(3, 23);
      await fill(PRUNED_ROWS + 5, 25);
      assertEquals(await pruneAnswers(database, 24), PRUNED_ROWS);
      assertEquals(await pruneAnswers(database, 24), 5);
      assertEquals(await pruneAnswers(database, 24), 0);
      assertEquals(await left(), 3);
    });

    it("continues until no old answer is left, and reports it once [IK20]", async () => {
      await fill(PRUNED_ROWS + 1, 30);
      assertEquals(await observeFirst(), { kind: "answers_pruned", rows: PRUNED_ROWS + 1 });
      assertEquals(await left(), 0);
    });

    if (kind === "real") {
      it("waits for no other server, and no update waits for it [IK20]", async () => {
        await fill(5, 25);
        const held = await test.admin.reserve();
        try {
          await held`begin`;
          await held`select pg_advisory_xact_lock(27424514944365171)`;
          assertEquals(await pruneAnswers(database, 24), 0);
          await held`rollback`;
        } finally {
          held.release();
        }
        assertEquals(await pruneAnswers(database, 24), 5);
      });
    }
  });
}
