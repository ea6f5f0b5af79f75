import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Sql } from "../../../src/database/postgres/driver.ts";
import type { Column, Table } from "../../../src/catalogue/catalogue.ts";
import { checkLaw } from "../../property/check_law.ts";
import { readPages } from "../../support/read_pages.ts";
import type { TestService } from "../../support/service.ts";
import type { DescribedSchema } from "./described_schema.ts";

type Row = Readonly<Record<string, unknown>>;

/** A table, its tenant's token, and what its rows are by the description of the schema. */
export interface Subject {
  readonly service: TestService;
  /** A session of the owner in UTC: not that of the service, whose rows are guarded at each statement. */
  readonly truth: Sql;
  readonly table: Table;
  readonly token: string;
  readonly tenant: string;
  /** The FROM and WHERE of the tenant's rows. */
  readonly from: string;
}

/** Reads the tenant's rows that fulfil a condition, as the description says, in a session in UTC. */
export async function readTruth(
  { truth, table, tenant, from }: Subject,
  condition = "true",
): Promise<readonly Row[]> {
  const columns = [...table.columns.values()]
    .map(({ identifier, name }) => `t.${identifier} as "${name}"`).join(", ");
  const where = from.replaceAll("$1", quote(tenant));
  const rows = await truth.unsafe<{ row: string }[]>(
    `select row_to_json(r)::text as row from (select ${columns} from ${where} and ${condition}) r`,
  );
  return rows.map(({ row }) => JSON.parse(row));
}

/** Tenancy and paging: page by page, a tenant gets its own rows, each once, in the order asked for. */
export async function checkPages(subject: Subject, perPage: number): Promise<readonly Row[]> {
  const { service, table, token } = subject;
  const truth = await readTruth(subject);
  const key = table.primaryKey.map(({ name }) => ({ field: name }));
  const body = { sort: key.length > 0 ? key : undefined, per_page: perPage };
  const rows = table.uniqueColumns.length > 0
    ? await readPages(service.send, { table: table.name, body, token })
    : await readNumbered(subject, perPage);
  assertEquals(sortTexts(rows), sortTexts(truth), table.name);
  return rows;
}

/** Pages by number, of a table that has nothing unique: the rows of child tables are its own as well. */
async function readNumbered(
  { service, table, token }: Subject,
  perPage: number,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const sort = [...table.columns.values()].filter(({ order }) => order).map(({ name }) => ({
    field: name,
  }));
  for (let page = 1;; page++) {
    const path = `/integration/tables/${table.name}/query`;
    const response = await service.send("POST", path, {
      body: { sort, page, per_page: perPage },
      token,
    });
    assertEquals(response.status, 200, response.text);
    rows.push(...response.body["records"] as Row[]);
    if (rows.length >= (response.body["total"] as number)) return rows;
  }
}

/** The oracle: a condition picks the rows that Postgres picks among those of the description. */
export async function checkConditions(subject: Subject, runs: number): Promise<void> {
  const { service, table, token } = subject;
  const rows = await readTruth(subject);
  const columns = [...table.columns.values()].filter(({ equality }) => equality);
  if (rows.length === 0 || columns.length === 0) return;
  const law = fc.asyncProperty(
    fc.constantFrom(...columns),
    fc.constantFrom(...rows),
    fc.constantFrom("eq", "neq", "gt", "lte", "in", "not_in", "is_null", "is_not_null", "like"),
    fc.constantFrom("and", "or"),
    async (column, row, op, combine) => {
      const chosen = choose(column, { op, value: row[column.name] });
      if (chosen === undefined) return;
      const other = columns[0]!;
      const filters = {
        [combine]: [chosen.condition, { field: other.name, op: "is_not_null" }],
      };
      const body = { filters, per_page: 200 };
      const path = `/integration/tables/${table.name}/query`;
      const response = await service.send("POST", path, { body, token });
      assertEquals(response.status, 200, response.text);
      const sql = `(${chosen.sql} ${combine} t.${other.identifier} is not null)`;
      const truth = await readTruth(subject, sql);
      assertEquals(sortTexts(response.body["records"] as Row[]), sortTexts(truth), sql);
      assertEquals(response.body["total"], truth.length);
    },
  );
  await checkLaw(law, { runs });
}

/** Exactly one: what several rows fulfil, or a row of another tenant, is not written. */
export async function checkUpdates(subject: Subject, others: readonly Row[]): Promise<void> {
  const { service, table, token } = subject;
  const rows = await readTruth(subject);
  const column = [...table.columns.values()].find(({ readOnly, kind }) =>
    readOnly === undefined && kind !== "composite" && kind !== "other"
  );
  const [own] = rows;
  if (!table.writable || column === undefined || own === undefined) return;
  const send = (operation: string, filters: Row, prefer: string) =>
    service.send("PATCH", `/integration/tables/${table.name}/records/${operation}`, {
      body: { filters, fields: { [column.name]: asSent(own[column.name]) } },
      token,
      headers: { prefer },
    });
  const keyOf = (row: Row) =>
    Object.fromEntries(table.primaryKey.map(({ name }) => [name, asSent(row[name])]));
  const rollback = "tx=rollback";
  if (table.primaryKey.length > 0) {
    const one = await send("single", keyOf(own), rollback);
    assertEquals([one.status, one.body["matched"]], [200, 1], `${table.name}: ${one.text}`);
    const [other] = others;
    if (other !== undefined) {
      for (const operation of ["single", "bulk"]) {
        const none = await send(operation, keyOf(other), rollback);
        const expected = operation === "single" ? [404, 0, undefined] : [200, undefined, 0];
        assertEquals(
          [none.status, none.body["matched"], none.body["updated"]],
          expected,
          `${table.name}: ${none.text}`,
        );
      }
    }
  }
  const shared = [...table.columns.values()].find(({ equality, name, kind }) =>
    equality && isScalar(own[name]) && kind !== "composite" &&
    rows.filter((row) => row[name] === own[name]).length > 1
  );
  if (shared === undefined) return;
  const matched = rows.filter((row) => row[shared.name] === own[shared.name]).length;
  const filters = { [shared.name]: asSent(own[shared.name]) };
  const several = await send("single", filters, "handling=lenient");
  assertEquals([several.status, several.body["matched"]], [409, matched], several.text);
  const limited = await send("bulk", filters, `max-affected=${matched - 1}`);
  assertEquals(limited.status, 409, limited.text);
  assertEquals(sortTexts(await readTruth(subject)), sortTexts(rows), "nothing was written");
}

/** Exports: as NDJSON, the rows of the description, each once. */
export async function checkExport(subject: Subject): Promise<void> {
  const { service, table, token } = subject;
  const response = await service.send("POST", `/integration/tables/${table.name}/query`, {
    body: {},
    token,
    headers: { accept: "application/x-ndjson" },
  });
  assertEquals(response.status, 200, response.text);
  const lines = response.text.split("\n").filter((line) => line !== "");
  const rows = lines.map((line) => JSON.parse(line) as Row);
  assertEquals(sortTexts(rows), sortTexts(await readTruth(subject)), table.name);
}

/** Opens the subjects of a schema for one of its tenants. */
export async function listSubjects(
  service: TestService,
  { schema, truth, tenant, token }: {
    readonly schema: DescribedSchema;
    readonly truth: Sql;
    readonly tenant: string;
    readonly token: string;
  },
): Promise<readonly Subject[]> {
  const { tables } = await service.catalogue.current();
  assertEquals([...tables.keys()].sort(), Object.keys(schema.rows).sort(), "exposed tables");
  return [...tables.values()].map((table) => ({
    ...{ service, truth, table, token, tenant },
    from: schema.rows[table.name]!,
  }));
}

function choose(
  column: Column,
  { op, value }: { readonly op: string; readonly value: unknown },
): { readonly condition: object; readonly sql: string } | undefined {
  const name = `t.${column.identifier}`;
  const field = column.name;
  if (op === "is_null" || op === "is_not_null") {
    return { condition: { field, op }, sql: `${name} ${op === "is_null" ? "is" : "is not"} null` };
  }
  if (!isScalar(value)) return undefined;
  const text = String(value);
  const cast = `${quote(text)}::${column.cast}`;
  if (op === "in" || op === "not_in") {
    const sql = `${name} ${op === "in" ? "in" : "not in"} (${cast})`;
    return { condition: { field, op, value: [text] }, sql };
  }
  if (op === "like") {
    if (column.kind !== "text" || /[%_\\]/.test(text)) return undefined;
    const pattern = `${text.slice(0, 3)}%`;
    return {
      condition: { field, op, value: pattern },
      sql: `starts_with(${name}::text, ${quote(text.slice(0, 3))})`,
    };
  }
  if ((op === "gt" || op === "lte") && !column.order) return undefined;
  const signs: Readonly<Record<string, string>> = { eq: "=", neq: "<>", gt: ">", lte: "<=" };
  return { condition: { field, op, value: text }, sql: `${name} ${signs[op]} ${cast}` };
}

function isScalar(value: unknown): boolean {
  return value !== null && typeof value !== "object";
}

/** Numbers as texts, which say every digit. */
function asSent(value: unknown): unknown {
  return typeof value === "number" ? String(value) : value;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Rows in one order, to be compared. */
function sortTexts(rows: readonly Row[]): readonly string[] {
  assert(rows.every((row) => typeof row === "object"));
  return rows.map((row) => JSON.stringify(row)).sort();
}
