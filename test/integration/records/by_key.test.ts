// Single updates whose filters name the whole key: one row at most can match, so none is counted.
import { assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { planUpdate } from "../../../src/records/plan/update_plan.ts";
import { parseUpdateRequest } from "../../../src/request/update_request.ts";
import { compileUpdateByKey, SECOND_ROW } from "../../../src/records/sql/update_by_key.ts";
import { createTestDatabase } from "../../support/database.ts";
import { printStatement } from "../../support/print_statement.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";
import {
  CONTESTED_TABLES,
  fillContestedTable,
  makeContestedTables,
  readContestedTable,
  TENANT_SETTING,
} from "./contested_tables.ts";
import { race } from "./other_session.ts";

const KEYED_TABLES = CONTESTED_TABLES.filter(({ name }) => name !== "keyless");
const OTHERS = ["2 1 shut - 0", "3 2 open - 0", "4 1 shut - 0"];

/** What another transaction does before ours can, and what then becomes of ours. */
const RACES = [
  {
    other: "only locks the row",
    statements: (t: string) => `select from ${t} where id = 1 for update`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 0", ...OTHERS],
  },
  {
    other: "changes another column",
    statements: (t: string) => `update ${t} set n = 5 where id = 1`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 5", ...OTHERS],
  },
  {
    other: "makes the row match no more",
    statements: (t: string) => `update ${t} set state = 'shut' where id = 1`,
    response: [404, 0, undefined],
    rows: ["1 1 shut - 0", ...OTHERS],
  },
  {
    other: "deletes the row",
    statements: (t: string) => `delete from ${t} where id = 1`,
    response: [404, 0, undefined],
    rows: OTHERS,
  },
  {
    other: "moves the row to another tenant",
    statements: (t: string) => `update ${t} set tenant_id = 2 where id = 1`,
    response: [404, 0, undefined],
    rows: ["1 2 open - 0", ...OTHERS],
  },
  {
    other: "gives its key to another row",
    statements: (t: string) =>
      `update ${t} set id = 5 where id = 1; update ${t} set id = 1, state = 'open' where id = 2`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 0", "3 2 open - 0", "4 1 shut - 0", "5 1 open - 0"],
  },
  {
    other: "deletes the row and inserts another one with its key",
    statements: (t: string) =>
      `delete from ${t} where id = 1; insert into ${t} values (1, 1, 'open', null, 7)`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 7", ...OTHERS],
  },
  {
    other: "writes the same value",
    statements: (t: string) => `update ${t} set note = 'ours' where id = 1`,
    response: [200, 1, 0],
    rows: ["1 1 open ours 0", ...OTHERS],
  },
  {
    other: "rolls back",
    statements: (t: string) => `update ${t} set state = 'shut', n = 3 where id = 1`,
    rollback: true,
    response: [200, 1, 1],
    rows: ["1 1 open ours 0", ...OTHERS],
  },
];

const SERVICES: readonly { what: string; environment: Record<string, string> }[] = [
  { what: "", environment: {} },
  {
    what: ", with a tenant setting and the audit",
    environment: { ROWGATE_TENANT_SETTING: TENANT_SETTING, ROWGATE_AUDIT: "on" },
  },
];

for (const { what, environment } of SERVICES) {
  describe(`Update Single by key against a transaction that commits while it waits${what}`, () => {
    let service: TestService;
    // Without the setting its policy shows no row.
    const tables = KEYED_TABLES.filter(({ name }) => what !== "" || name !== "lockable");

    before(async () => {
      service = await createTestService("real", { environment });
      await makeContestedTables(service.database.admin);
    });
    after(() => service.close());

    for (const table of tables) {
      for (const isKept of [false, true]) {
        const how = isKept ? "right, and its answer kept," : "right";
        for (const { other, statements, rollback, response, rows } of RACES) {
          it(`is ${how} on ${table.what} when the other transaction ${other} [U20] [U22] [CO2] [IK5]`, async () => {
            const { admin } = service.database;
            await fillContestedTable(admin, table);
            const body = { filters: { id: 1, state: "open" }, fields: { note: "ours" } };
            const path = `/integration/tables/${table.name}/records/single`;
            const transaction = { statements: statements(table.name), rollback };
            const headers = { "idempotency-key": `"${crypto.randomUUID()}"` };
            const send = () =>
              service.send("PATCH", path, { body, ...(isKept ? { headers } : {}) });
            const { status, text, body: reported } = await race(admin, transaction, send);
            assertEquals([status, reported["matched"], reported["updated"]], response);
            assertEquals(await readContestedTable(admin, table), rows);
            if (!isKept) return;
            const again = await send();
            assertEquals([again.status, again.text], [status, text]);
            assertEquals(await readContestedTable(admin, table), rows);
          });
        }
      }
    }

    it("writes nothing and counts the rows when the key is no longer unique [U20]", async () => {
      const { admin } = service.database;
      const table = KEYED_TABLES[0]!;
      await fillContestedTable(admin, table);
      // The catalogue has not heard of it.
      await admin.unsafe(`alter table keyed drop constraint keyed_pkey;
        insert into keyed values (1, 1, 'open', null, 7)`);
      const body = { filters: { id: 1 }, fields: { note: "ours" } };
      const path = "/integration/tables/keyed/records/single";
      const { status, body: reported } = await service.send("PATCH", path, { body });
      assertEquals([status, reported["matched"]], [409, 2]);
      const rows = ["1 1 open - 0", "1 1 open - 7", ...OTHERS];
      assertEquals((await readContestedTable(admin, table)).toSorted(), rows);
    });
  });
}

describe("the statement of an update by key", () => {
  for (const [what, values] of [["both would change", "'a', 'b'"], ["one would", "'x', 'b'"]]) {
    it(`is rejected by Postgres, and undone, where two rows have the key and ${what}`, async () => {
      const database = await createTestDatabase("real", "empty");
      try {
        await database.admin.unsafe(`create schema app;
          create table app.deals (id int8, tenant_id int4, status text);
          insert into app.deals select 1, 1, unnest(array[${values}])`);
        const options = { access: makeAccess(), maxAffected: undefined, rollback: false };
        const table = makeTable([makeColumn("status", "text")]);
        const request = parseUpdateRequest({ filters: { id: 1 }, fields: { status: "x" } });
        const plan = planUpdate(request, { ...options, table });
        const { text, parameters } = printStatement((sql) => compileUpdateByKey(sql, plan));
        const run = () => database.admin.unsafe(text, parameters as string[]);
        const error = await assertRejects(run);
        assertEquals((error as { code?: string }).code, SECOND_ROW);
        const rows = await database.admin`select status from app.deals order by status`;
        assertEquals(
          rows.map(({ status }) => `'${status}'`).toSorted().join(", "),
          [
            ...values!.split(", "),
          ].toSorted().join(", "),
        );
      } finally {
        await database.drop();
      }
    });
  }
});
