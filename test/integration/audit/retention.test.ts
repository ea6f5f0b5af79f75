import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { keepRetention, pruneAudit } from "../../../src/access/audit/retention.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import { PRUNED_ROWS } from "../../../src/database/schema/prune_oldest.ts";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../../support/database.ts";
import { openSubject, type Subject } from "../database/open_subject.ts";

for (const kind of DATABASE_KINDS) {
  describe(`the retention of the audit on ${kind}`, () => {
    let test: TestDatabase;
    let subject: Subject;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      subject = openSubject(test);
      await migrateSchema(subject.database);
    });
    after(async () => {
      await subject?.database.close(1000);
      await test?.drop();
    });
    beforeEach(async () => void await test.admin`truncate rowgate.audit`);

    /** Inserts records: the first is as many days old, each further one an hour older. */
    const fill = (rows: number, days: number) =>
      test.admin.unsafe(`insert into rowgate.audit (at, request_id, token_id, tenant, schema_name,
          table_name, operation, filter_fields, fields, matched, updated)
        select now() - interval '${days} days' - n * interval '1 hour', 'r', 't', '1', 'public',
          'deals', 'update_bulk', '{a}', '{b}', 1, 1 from generate_series(0, ${rows - 1}) n`);

    const left = async () =>
      (await test.admin`select count(*)::int4 as n from rowgate.audit`)[0]!["n"] as number;

    it("deletes old records, the oldest first, in batches, and nothing else [R23] [R41]", async () => {
      await fill(3, 9);
      await fill(PRUNED_ROWS + 5, 11);
      assertEquals(await pruneAudit(subject.database, 10), PRUNED_ROWS);
      const [oldest] = await test.admin`select min(at) > now() - interval '12 days' as young
        from rowgate.audit`;
      assertEquals(oldest!["young"], true);
      assertEquals(await pruneAudit(subject.database, 10), 5);
      assertEquals(await pruneAudit(subject.database, 10), 0);
      assertEquals(await left(), 3);
    });

    it("continues until no old record is left, and reports it once [R23]", async () => {
      await fill(2 * PRUNED_ROWS + 1, 11);
      await fill(2, 1);
      const observed: Observation[] = [];
      await new Promise<void>((resolve) => {
        const retention = keepRetention(subject.database, {
          days: 10,
          firstMs: 0,
          observe(observation) {
            observed.push(observation);
            retention.close();
            resolve();
          },
        });
      });
      assertEquals(observed, [{ kind: "audit_pruned", rows: 2 * PRUNED_ROWS + 1 }]);
      assertEquals(await left(), 2);
    });

    it("reports a failure, and does not throw [R23]", async () => {
      await test.admin`alter table rowgate.audit rename to renamed`;
      const observed = await new Promise<Observation>((resolve) => {
        const retention = keepRetention(subject.database, {
          days: 10,
          firstMs: 0,
          observe(observation) {
            retention.close();
            resolve(observation);
          },
        });
      });
      await test.admin`alter table rowgate.renamed rename to audit`;
      assert(
        observed.kind === "warning" && observed.message.includes("rowgate.audit"),
        observed.kind,
      );
    });

    if (kind === "embedded") return;

    it("deletes nothing while another server deletes, and does not wait for it [R23]", async () => {
      await fill(3, 11);
      const other = await test.admin.reserve();
      try {
        await other`begin`;
        await other`select pg_advisory_xact_lock(418581342580)`;
        assertEquals(await pruneAudit(subject.database, 10), 0);
        await other`rollback`;
      } finally {
        other.release();
      }
      const both = await Promise.all([1, 2].map(() => pruneAudit(subject.database, 10)));
      assertEquals(both.reduce((sum, rows) => sum + rows), 3);
    });

    it("is denied to a role that may only insert [R23]", async () => {
      await fill(1, 11);
      await test.admin`grant usage on schema rowgate to rowgate_app`;
      await test.admin`grant insert on rowgate.audit to rowgate_app`;
      const serving = openSubject({ ...test, url: test.servingUrl });
      try {
        const denied = await assertRejects(() => pruneAudit(serving.database, 10), DatabaseError);
        assertEquals(denied.kind, "permission");
      } finally {
        await serving.database.close(1000);
      }
      assertEquals(await left(), 1);
    });
  });
}
