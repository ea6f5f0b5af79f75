import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService } from "../../support/service.ts";
import type { TestService } from "../../support/service.ts";
import {
  CONTESTED_TABLES,
  fillContestedTable,
  makeContestedTables,
  readContestedTable,
  TENANT_SETTING,
} from "./contested_tables.ts";
import { openOtherSession } from "./other_session.ts";

/** Row 2 comes to match in place of row 1 while ours waits for row 1, and is taken at once. */
const TAKEN_MEANWHILE = [
  {
    title: "does not write when a further row matches",
    statements: (t: string) =>
      `update ${t} set n = 9 where id = 2; update ${t} set state = 'open' where id = 4`,
    response: [409, 2],
    rows: ["1 1 shut - 0", "2 1 open - 9", "3 2 open - 0", "4 1 open - 0"],
  },
  {
    title: "writes when that one still matches alone",
    statements: (t: string) => `update ${t} set n = 9 where id = 2`,
    response: [200, 1],
    rows: ["1 1 shut - 0", "2 1 open ours 9", "3 2 open - 0", "4 1 shut - 0"],
  },
];

describe("Update Single that waits for one row after the other", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_TENANT_SETTING: TENANT_SETTING },
    });
    await makeContestedTables(service.database.admin);
  });
  after(() => service.close());

  for (const table of CONTESTED_TABLES) {
    for (const { title, statements, response, rows } of TAKEN_MEANWHILE) {
      // With tx=rollback every table takes a transaction, and locks first.
      for (
        const prefer of ["unpinnable", "ruled"].includes(table.name)
          ? ["", "tx=rollback"]
          : ["tx=rollback"]
      ) {
        it(`${title}, on ${table.what}, ${prefer || "kept"} [U20] [U22] [CO2]`, async () => {
          const { admin } = service.database;
          const t = table.name;
          await fillContestedTable(admin, table);
          const first = await openOtherSession(admin);
          const second = await openOtherSession(admin);
          try {
            await first.run(`begin; update ${t} set state = 'shut' where id = 1`);
            const pending = service.send("PATCH", `/integration/tables/${t}/records/single`, {
              body: { filters: { state: "open" }, fields: { note: "ours" } },
              headers: prefer === "" ? {} : { prefer },
            });
            await first.awaitBlocked(1);
            await admin.unsafe(`update ${t} set state = 'open' where id = 2`);
            await second.run(`begin; ${statements(t)}`);
            await first.run("commit");
            await second.awaitBlocked(1);
            await second.run("commit");
            const { status, body } = await pending;
            assertEquals([status, body["matched"]], response);
          } finally {
            await first.close();
            await second.close();
          }
          const kept = prefer === "" ? rows : rows.map((row) => row.replace("ours", "-"));
          assertEquals(await readContestedTable(admin, table), kept);
        });
      }
    }
  }
});
