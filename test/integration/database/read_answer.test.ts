import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Row, Sql } from "../../../src/postgres/driver.ts";
import type { StepResult } from "../../../src/postgres/database.ts";
import { readAnswer } from "../../../src/postgres/read_answer.ts";
import type { DriverQuery } from "../../../src/postgres/statement_cache.ts";
import type { Outcome } from "../../../src/postgres/statement.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

function rowsOf(outcome: Outcome<StepResult<Row>>): readonly object[] {
  if (outcome.failure !== undefined) throw new Error(outcome.failure.code);
  return outcome.rows.map((row) => ({ ...row }));
}

describe("an answer that is read", () => {
  let test: TestDatabase;
  let sql: Sql;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe("create table items (id int4, name text)");
    await test.admin.unsafe("insert into items values (1, 'one')");
    sql = postgres(test.url!, { max: 1, fetch_types: false });
  });
  after(async () => {
    await sql.end();
    await test.drop();
  });

  async function read(): Promise<{ readonly rows: readonly object[]; readonly name: string }> {
    const query = sql`select * from items where name = ${"one"}::text`;
    const rows = rowsOf(readAnswer(query, await query));
    const { statement } = query as unknown as { statement: { string: string; name: string } };
    assertEquals(statement.string, "");
    return { rows, name: statement.name };
  }

  it("keeps nothing that its query was made of", async () => {
    const query = sql`select ${"a"}::text as value`;
    assertEquals(rowsOf(readAnswer(query, await query)), [{ value: "a" }]);
    const { strings, args, string, parameters } = query as unknown as DriverQuery;
    assertEquals([strings, args, string, parameters], Array(4).fill(undefined));
  });

  it("leaves the statement prepared, also when it is planned anew", async () => {
    const first = await read();
    assertEquals(first.rows, [{ id: 1, name: "one" }]);
    assert(first.name !== "");
    assertEquals((await read()).name, first.name);
    await test.admin.unsafe("alter table items add column size int4 default 7");
    // The driver prepares it again by itself, from the text that it makes then.
    const again = await read();
    assertEquals(again.rows, [{ id: 1, name: "one", size: 7 }]);
    assert(again.name !== first.name);
  });
});
