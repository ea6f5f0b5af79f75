import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { createTestService } from "../support/service.ts";
import type { ReceivedResponse, TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { DROPPED } from "./dropped_texts.ts";
import { JUNK } from "./hostile_values.ts";
import { recordsOf } from "./open_oracle.ts";

/** A column of the fixture's `everything`, as Get Fields and as Postgres describe it. */
interface TypedColumn {
  readonly name: string;
  readonly type: string;
  readonly operators: readonly string[];
  readonly writable: boolean;
  /** Bytes to which Postgres silently cuts a longer text. */
  readonly keptBytes: number;
}

const PATH = "/integration/tables/everything";
/** `.ci/nightly` tries ten thousand. */
const RUNS = 400;
const EXACT = { accept: "application/json;IEEE754Compatible=true" };

describe("the value of a column", () => {
  let service: TestService;
  let columns: TypedColumn[];
  beforeAll(async () => {
    service = await createTestService("real");
    columns = await readColumns(service);
  });
  afterAll(() => service?.close());

  it("is accepted in a filter exactly when Postgres reads it, and means the same [V4] [V1]", async () => {
    const cases = arbitraryText(columns.filter(({ operators }) => operators.includes("eq")));
    const law = fc.asyncProperty(cases, async ({ column, text }) => {
      const count = await countRows(service.database.admin, column, text);
      const path = "filters.or[1].value[1]";
      // The tautology and the null keep Postgres from reaching the value by itself.
      const filters = {
        or: [
          { and: [{ field: "id", op: "is_null" }] },
          { field: column.name, op: "in", value: [null, text] },
        ],
      };
      const response = await service.send("POST", `${PATH}/query`, { body: { filters } });
      if (count === undefined) return assertRejectedAt(response, path);
      assertEquals(response.status, 200, response.text);
      const eq = { and: [{ field: column.name, op: "eq", value: text }] };
      const found = await service.send("POST", `${PATH}/query`, { body: { filters: eq } });
      assertEquals(found.body.total, count, found.text);
    });
    await checkLaw(law, { runs: RUNS });
  });

  it("is accepted in fields exactly when Postgres stores it [U8] [E33]", async () => {
    const cases = arbitraryText(columns.filter(({ writable }) => writable));
    const law = fc.asyncProperty(cases, async ({ column, text }) => {
      const stores = await canStore(service.database.admin, column, text);
      const body = { filters: { id: 2 }, fields: { [column.name]: text } };
      const response = await service.send("PATCH", `${PATH}/records/single`, {
        body,
        headers: { prefer: "tx=rollback" },
      });
      if (!stores) return assertRejectedAt(response, `fields.${column.name}`);
      assertEquals(response.status, 200, response.text);
      assertEquals(response.body.fields, { [column.name]: text });
    });
    await checkLaw(law, { runs: RUNS });
  });

  it("finds its row again when it is sent back, and gt does not [Q91] [TV23]", async () => {
    const all = await service.send("POST", `${PATH}/query`, { headers: EXACT, body: {} });
    let sent = 0;
    for (const record of recordsOf(all)) {
      for (const { name, type, operators } of columns) {
        const printed = record[name];
        const scalar = printed !== null && typeof printed !== "object";
        if (!scalar || !operators.includes("eq") || type.startsWith("json")) continue;
        const value = typeof printed === "number" ? String(printed) : printed;
        const find = async (op: string) => {
          const and = [{ field: name, op, value }];
          const body = { filters: { and }, select: ["id"] };
          const response = await service.send("POST", `${PATH}/query`, { body });
          return recordsOf(response).some(({ id }) => id === Number(record.id));
        };
        assert(await find("eq"), `${name} = ${value} did not find row ${record.id}`);
        if (!operators.includes("gt")) continue;
        assert(!await find("gt"), `${name} > ${value} found row ${record.id}`);
        assert(await find("gte"), `${name} >= ${value} did not find row ${record.id}`);
        sent++;
      }
    }
    assert(sent > 150, `${sent} values sent back`);
  });
});

async function readColumns({ send, database }: TestService): Promise<TypedColumn[]> {
  const { body } = await send("GET", `${PATH}/fields`);
  const types = await database.admin<{ name: string; type: string; bytes: number }[]>`
    select attname as name, case when t.typtype = 'd' and t.typtypmod < 0 then t.oid
        else coalesce(nullif(t.typbasetype, 0), t.oid) end::regtype::text as type,
      case t.typname when 'name' then 63 when 'char' then 1 else 1000000 end as bytes
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where attrelid = 'everything'::regclass and attnum > 0`;
  return (body.fields as { name: string; operators: string[]; writable: boolean }[]).map(
    ({ name, operators, writable }) => {
      const { type, bytes } = types.find((one) => one.name === name)!;
      // A bare bit is bit(1), which would cut.
      return {
        name,
        type: type === "bit" ? "varbit" : type,
        operators,
        writable,
        keptBytes: bytes,
      };
    },
  );
}

function arbitraryText(
  columns: readonly TypedColumn[],
): Arbitrary<{ column: TypedColumn; text: string }> {
  const texts = JUNK.filter((value) => typeof value === "string")
    .filter((text) => text.isWellFormed() && !text.includes("\0") && !text.includes("@"))
    // Numbers only for some versions of Postgres; the service rejects them on all.
    .filter((text) => text !== "0x1F" && text !== "1_000");
  return fc.record({
    column: fc.constantFrom(...columns),
    text: fc.constantFrom(...texts, "2026-01-31T10:00:00+05:30", "12.50", "won", "Green", "t"),
  });
}

/** Rows of tenant 1 that equal the text as a value of the column's type; undefined: it is not one. */
async function countRows(
  admin: Sql,
  { name, type, keptBytes }: TypedColumn,
  text: string,
): Promise<number | undefined> {
  if (new TextEncoder().encode(text).length > keptBytes) return undefined;
  if (DROPPED[type]?.test(text)) return undefined;
  try {
    const [row] = await admin.unsafe(
      `select count(*)::int4 n from everything where tenant_id = 1 and ${name} = $1::text::${type}`,
      [text],
    );
    return row!.n;
  } catch {
    return undefined;
  }
}

/** Whether Postgres would put the text into row 2 without cutting it. */
async function canStore(
  admin: Sql,
  { name, type, keptBytes }: TypedColumn,
  text: string,
): Promise<boolean> {
  if (new TextEncoder().encode(text).length > keptBytes) return false;
  if (DROPPED[type]?.test(text)) return false;
  // A json column takes any JSON, which a string is.
  const value = /^jsonb?$/.test(type) ? JSON.stringify(text) : text;
  // A literal without a cast is assigned as in an insert: the length rejects it, where a cast would cut.
  const literal = `'${value.replaceAll("'", "''")}'`;
  try {
    await admin.begin(async (sql) => {
      await sql.unsafe(`update everything set ${name} = ${literal} where id = 2`);
      await sql`rollback`;
    });
    return true;
  } catch {
    return false;
  }
}

function assertRejectedAt({ status, text, body }: ReceivedResponse, path: string): void {
  assertEquals(status, 400, text);
  assert(String(body.error).startsWith(`${path}: `), text);
  assertEquals(String(body.error).split(/; (?=(?:filters|fields)[^ ]*: )/).length, 1, text);
}
