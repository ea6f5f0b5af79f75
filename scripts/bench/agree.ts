import type { Sql } from "../../src/database/postgres/driver.ts";
import { assertEquals } from "../../test/support/std/assert.ts";
import type { Contender, Result } from "./contender.ts";
import { isUpdate, type Task, type UpdateBody, VARYING } from "./work.ts";

/** How many requests of each work are compared. */
const COMPARED = 20;

let number = 10_000_000;

/**
 * Sends every contender the same requests and compares: the same rows in the same order, the same
 * totals; after an update every matching row must hold the value that was sent.
 */
export async function checkAgreement(
  contenders: readonly Contender[],
  tasks: readonly Task[],
  sql: Sql,
): Promise<void> {
  const step = Math.max(1, Math.floor(tasks.length / COMPARED));
  const seen = new Set<number>();
  for (const [index, task] of tasks.entries()) {
    // Of a drawn work every shape is compared.
    if (index % step > 0 && seen.has(task.shape)) continue;
    seen.add(task.shape);
    let expected: Result | undefined;
    for (const contender of contenders) {
      const result = await send(contender, task, ++number);
      expected ??= result;
      const where = `${contender.name} answers ${task.work} ${index} differently`;
      assertEquals(result, expected, where);
      if (isUpdate(task.work)) await checkRows(sql, task, { number, total: result.total! });
    }
    const found = expected!.total ?? expected!.records.length;
    if (found < 1) throw new Error(`${task.work} ${index} finds nothing`);
  }
}

async function send(contender: Contender, task: Task, value: number): Promise<Result> {
  const { path, body, ...rest } = contender.ask(task);
  const request = body === "" ? rest : { ...rest, body: body.replaceAll(VARYING, String(value)) };
  const response = await fetch(`${contender.address}${path}`, request);
  try {
    const { total, records } = await contender.read(response);
    return { total, records: isSorted(task) ? records : records.map(printRow).toSorted() };
  } catch (error) {
    throw new Error(`${contender.name} on ${task.work}: ${error}`);
  }
}

function isSorted({ body }: Task): boolean {
  return "sort" in body;
}

/** The order of the fields does not matter. */
function printRow(row: unknown): string {
  return JSON.stringify(Object.entries(row as object).toSorted());
}

async function checkRows(
  sql: Sql,
  { tenant, body }: Task,
  { number, total }: { readonly number: number; readonly total: number },
): Promise<void> {
  const filters = Object.entries((body as UpdateBody).filters);
  const conditions = filters.map(([column, value]) =>
    sql`and ${sql(column)}::text = ${String(value)}`
  );
  const [row] = await sql<{ held: number; there: number }[]>`
    select count(*) filter (where visits = ${number})::int4 held, count(*)::int4 there
    from contacts where tenant_id = ${tenant} ${conditions}`;
  assertEquals([row!.held, row!.there], [total, total], "the rows do not hold what was sent");
}
