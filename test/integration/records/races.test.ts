import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { createTestService } from "../../support/service.ts";
import type { ReceivedResponse, TestService } from "../../support/service.ts";
import {
  CONTESTED_TABLES,
  fillContestedTable,
  makeContestedTables,
  readContestedTable,
  TENANT_SETTING,
} from "./contested_tables.ts";
import { openOtherSession, race } from "./other_session.ts";

/** What another transaction does to the rows before ours can, and what then becomes of ours. */
interface Race {
  readonly other: string;
  readonly statements: (table: string) => string;
  readonly rollback?: true;
  readonly response: readonly [status: number, matched: number, updated?: number];
  readonly rows: readonly string[];
}

const BYSTANDERS = ["3 2 open - 0", "4 1 shut - 0"];

/** The table of races in docs/specification/facts-postgres.md, row by row. */
const RACES: readonly Race[] = [
  {
    other: "only locks the row",
    statements: (t) => `select from ${t} where id = 1 for update`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 0", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "changes another column",
    statements: (t) => `update ${t} set n = 5 where id = 1`,
    response: [200, 1, 1],
    rows: ["1 1 open ours 5", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "makes the row match no more",
    statements: (t) => `update ${t} set state = 'shut' where id = 1`,
    response: [404, 0],
    rows: ["1 1 shut - 0", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "deletes the row",
    statements: (t) => `delete from ${t} where id = 1`,
    response: [404, 0],
    rows: ["2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "moves the row to another tenant",
    statements: (t) => `update ${t} set tenant_id = 2 where id = 1`,
    response: [404, 0],
    rows: ["1 2 open - 0", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "makes another row match in its place",
    statements: (t) =>
      `update ${t} set state = case id when 1 then 'shut' else 'open' end where id in (1, 2)`,
    response: [200, 1, 1],
    rows: ["1 1 shut - 0", "2 1 open ours 0", ...BYSTANDERS],
  },
  {
    other: "touches the row and makes a second one match",
    statements: (t) => `update ${t} set state = 'open', n = n + 1 where id in (1, 2)`,
    response: [409, 2],
    rows: ["1 1 open - 1", "2 1 open - 1", ...BYSTANDERS],
  },
  {
    other: "writes the same value",
    statements: (t) => `update ${t} set note = 'ours' where id = 1`,
    response: [200, 1, 0],
    rows: ["1 1 open ours 0", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "rolls back",
    statements: (t) => `update ${t} set state = 'shut' where id in (1, 2, 3)`,
    rollback: true,
    response: [200, 1, 1],
    rows: ["1 1 open ours 0", "2 1 shut - 0", ...BYSTANDERS],
  },
  {
    other: "touches the row and inserts a second one that matches",
    statements: (t) =>
      `update ${t} set n = 1 where id = 1; insert into ${t} values (5, 1, 'open', null, 0)`,
    response: [409, 2],
    rows: ["1 1 open - 1", "2 1 shut - 0", ...BYSTANDERS, "5 1 open - 0"],
  },
];

/** How the update is sent, and what it responds with: status, rows that matched, rows written. */
interface Way {
  readonly what: string;
  readonly ids: string;
  readonly send: (service: TestService, table: string) => Promise<ReceivedResponse>;
  readonly read: (body: ReceivedResponse["body"]) => readonly unknown[];
  /** The bystander of the same tenant, where ours has written it too. */
  readonly bystander?: string;
}

const UPDATE = { filters: { state: "open" }, fields: { note: "ours" } };
const pathOf = (table: string, how: string) => `/integration/tables/${table}/records/${how}`;
const readSingle: Way["read"] = ({ matched, updated }) => [matched, updated];

const WAYS: readonly Way[] = [
  {
    what: "an update",
    ids: "[U20] [U22] [CO2]",
    send: (service, table) => service.send("PATCH", pathOf(table, "single"), { body: UPDATE }),
    read: readSingle,
  },
  {
    what: "an update with a key",
    ids: "[U22] [CO2] [IK5] [IK15]",
    send: sendTwice,
    read: readSingle,
  },
  {
    what: "an update in the middle of a batch",
    ids: "[U59] [CO2]",
    send: (service, table) =>
      service.send("PATCH", pathOf(table, "batch"), {
        body: {
          updates: [
            { filters: { id: 4 }, fields: { note: "before" } },
            UPDATE,
            { filters: { id: 4, note: "before" }, fields: { note: "after" } },
          ],
        },
      }),
    read({ results, matched }) {
      const [, result] = (results ?? []) as readonly { matched: number; updated: number }[];
      return [result?.matched ?? matched, result?.updated];
    },
    bystander: "4 1 shut after 0",
  },
];

/** The rows after a race: what a batch has written besides is there as a whole, or not at all. */
function expectRows({ rows, response: [status] }: Race, { bystander }: Way): readonly string[] {
  if (bystander === undefined || status !== 200) return rows;
  return rows.map((row) => row.startsWith("4 ") ? bystander : row);
}

/** Sends an update with a key until it is answered, and once more: the answer stays the same. */
async function sendTwice(service: TestService, table: string): Promise<ReceivedResponse> {
  const headers = { "idempotency-key": `"${crypto.randomUUID()}"` };
  const send = () => service.send("PATCH", pathOf(table, "single"), { body: UPDATE, headers });
  const first = await send();
  const again = await send();
  assertEquals([again.status, again.text], [first.status, first.text]);
  assertEquals(again.headers.get("idempotent-replayed"), "true");
  return first;
}

describe("Update Single against a transaction that commits while it waits", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_TENANT_SETTING: TENANT_SETTING },
    });
    await makeContestedTables(service.database.admin);
  });
  after(() => service.close());

  for (const table of CONTESTED_TABLES) {
    for (const way of WAYS) {
      const { what, ids, send, read } = way;
      for (const one of RACES) {
        const { other, statements, rollback, response } = one;
        it(`updates exactly one row for ${what} on ${table.what} when the other transaction ${other} ${ids}`, async () => {
          const { admin } = service.database;
          await fillContestedTable(admin, table);
          const transaction = { statements: statements(table.name), rollback };
          const { status, body } = await race(admin, transaction, () => send(service, table.name));
          const [expected, matched, updated] = response;
          assertEquals([status, ...read(body)], [expected, matched, updated]);
          assertEquals(await readContestedTable(admin, table), expectRows(one, way));
        });
      }
    }
  }

  it("writes the one row that matched in its snapshot when two updates swap values [CO19]", async () => {
    const { admin } = service.database;
    const [table] = CONTESTED_TABLES;
    await fillContestedTable(admin, table!);
    const session = await openOtherSession(admin);
    try {
      await session.run(`begin; select from ${table!.name} where id in (1, 2) for update`);
      const swap = (from: string, to: string) =>
        service.send("PATCH", `/integration/tables/${table!.name}/records/single`, {
          body: { filters: { state: from, n: 0 }, fields: { state: to, note: `from ${from}` } },
        });
      await admin.unsafe(`delete from ${table!.name} where id = 4`);
      const responses = Promise.all([swap("open", "shut"), swap("shut", "open")]);
      await session.awaitBlocked(2);
      await session.run("commit");
      // Each found one row in its snapshot. One after the other, the second would have found two.
      assertEquals((await responses).map(({ status, body }) => [status, body["matched"]]), [
        [200, 1],
        [200, 1],
      ]);
      const rows = await readContestedTable(admin, table!);
      assertEquals(rows.slice(0, 2), ["1 1 shut from open 0", "2 1 open from shut 0"]);
    } finally {
      await session.close();
    }
  });
});
