import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../support/database.ts";
import { collectSent, findLeaks, findPostgres } from "../support/invariants/find_leaks.ts";
import { guardRows } from "../support/invariants/row_guard.ts";

const TOKEN = "rg_abc_0123456789";

describe("the check of responses", () => {
  const secrets = { tokens: new Set([TOKEN]), sent: new Set<string>() };

  it("finds the marker of another tenant's rows, and lets tenant 2 see its own [TE1]", () => {
    const text = `{"records":[{"title":"Deal 7 CANARY"}]}`;
    assertEquals(findLeaks(text, "1", secrets).length, 1);
    assertEquals(findLeaks(text, undefined, secrets).length, 1);
    assertEquals(findLeaks(text, "2", secrets), []);
    assertEquals(findLeaks(text.replace("CANARY", ""), "1", secrets), []);
  });

  it("allows a client its own text, and nothing else", () => {
    const sent = new Set<string>();
    collectSent(`{"value":"my \\"CANARY\\""}`, sent);
    const echoed = JSON.stringify({
      error: `value: ${JSON.stringify('my "CANARY"')} is no number`,
    });
    assertEquals(findLeaks(echoed, "1", { ...secrets, sent }), []);
    assertEquals(findLeaks(`${echoed} CANARY`, "1", { ...secrets, sent }).length, 1);
  });

  it("finds a token, plain and in base64, in any output", () => {
    for (const text of [`x ${TOKEN} y`, btoa(TOKEN)]) {
      for (const tenant of ["1", "2", undefined]) {
        assertEquals(findLeaks(text, tenant, secrets), ["a token"]);
      }
    }
  });

  it("finds SQL and texts of Postgres, except those that a client sent", () => {
    for (
      const text of [
        `duplicate key value violates unique constraint "x"`,
        `ERROR:  relation "deals" does not exist`,
        "invalid input syntax for type integer",
        "select 1 from deals",
        "$1::text",
        "current transaction is aborted",
      ]
    ) assertEquals(findPostgres(text).length, 1, text);
    assertEquals(findPostgres(`filters.a: "select 1 from x" does not fit column "a"`), []);
    const token = `AQ${"x".repeat(30)}HINT${"y".repeat(30)}`;
    assertEquals(findPostgres(`</query?after=${token}>; rel="next"`), []);
  });
});

for (const kind of DATABASE_KINDS) {
  describe(`the guard of rows (${kind})`, () => {
    let test: TestDatabase;
    const write = (text: string) => test.admin.unsafe(text);
    beforeAll(async () => {
      test = await createTestDatabase(kind);
    });
    afterAll(() => test.drop());

    for (
      const [what, statement, writer, changed] of [
        ["another tenant's row", "update deals set note = 'x' where fid = 1001", "1", "deals 2"],
        [
          "one with the values it has",
          "update deals set note = note where fid = 1002",
          "1",
          "deals 2",
        ],
        ["a row without a tenant", "update countries set population = 1", "1", "countries"],
        ["a row that is new", "insert into guests values (9001, 2, 'x')", "1", "guests 2"],
        ["a row that is gone", "delete from order_lines where tenant_id = 2", "1", "order_lines 2"],
        ["the reader's own", "update deals set note = 'x' where fid = 1", undefined, "deals 1"],
        ["the writer's own", "update deals set note = 'y' where fid = 1", "1", undefined],
      ] as const
    ) {
      it(`finds a write to ${what} [TE8]`, async () => {
        // A watch that does not know of the test's own writes.
        const rows = guardRows(test);
        const end = await rows.start(writer);
        await write(statement);
        end();
        const found = await rows.check();
        assertEquals(
          found,
          changed === undefined ? [] : [`the rows of others changed: ${changed}`],
        );
        assertEquals(await rows.check(), []);
        await rows.close();
      });
    }

    it("finds a write to a table that is new [TE8]", async () => {
      const rows = guardRows(test);
      (await rows.start("1"))();
      await write("create table late (id int4, tenant_id int4)");
      await write("insert into late values (1, 2)");
      assertEquals(await rows.check(), ["the rows of others changed: late 2"]);
      (await rows.start("1"))();
      await write("alter table late rename tenant_id to org_id");
      await write("update late set id = 2");
      assertEquals(await rows.check(), ["the rows of others changed: late 2"]);
      await write("drop table late");
      await rows.close();
    });

    it("finds any write where groups of tests share the rows", async () => {
      const rows = guardRows(test);
      rows.setReadOnly(true);
      (await rows.start("1"))();
      await write("update deals set note = 'u' where fid = 1");
      assertEquals(await rows.check(), ["rows that groups of tests share changed: deals 1"]);
      rows.afterWrite();
      assertEquals(await rows.check(), ["a test writes to a database that groups of tests share"]);
      assertEquals(await rows.check(), []);
      await rows.close();
    });

    it("ignores what the test itself writes", async () => {
      const end = await test.rows.start("1");
      end();
      await write("update deals set note = 'z' where fid = 1001");
      assertEquals(await test.rows.check(), []);
      assert((await test.admin`select 1 from deals where note = 'z'`).length > 0);
    });

    it("ignores what the test writes while the rows are read", async () => {
      const taken = Promise.withResolvers<void>();
      const written = Promise.withResolvers<void>();
      const admin = new Proxy(test.admin, {
        get: (target, name) =>
          name !== "unsafe" ? Reflect.get(target, name) : async (text: string) => {
            const digests = await target.unsafe(text);
            taken.resolve();
            await written.promise;
            return digests;
          },
      });
      const rows = guardRows({ url: undefined, admin });
      const started = rows.start(undefined);
      await taken.promise;
      await write("update deals set note = 'v' where fid = 1001");
      rows.afterWrite();
      written.resolve();
      (await started)();
      assertEquals(await rows.check(), []);
    });

    it("ignores two concurrent writes of the test", async () => {
      for (let round = 0; round < 20; round++) {
        (await test.rows.start(undefined))();
        await Promise.all([1001, 1002, 1003].map(async (fid, index) => {
          await new Promise((resolve) => setTimeout(resolve, (index * round) % 5));
          await write(`update deals set note = 'w${round}' where fid = ${fid}`);
        }));
        assertEquals(await test.rows.check(), []);
      }
    });
  });
}
