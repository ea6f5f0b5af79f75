import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type {
  Compile,
  Database,
  PipelinedStatement,
} from "../../../src/database/postgres/database.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { pipelineStatements } from "../../../src/records/pipeline_statements.ts";
import { planUpdate } from "../../../src/records/plan/update_plan.ts";
import { parseUpdateRequest } from "../../../src/request/update_request.ts";
import { compileUpdateByKey, type KeyedRow } from "../../../src/records/sql/update_by_key.ts";
import { printStatement } from "../../support/print_statement.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

const ALONE: KeyedRow = { wanted: false, updated: null };
const WRITTEN: KeyedRow = { wanted: true, updated: true };

/** Updates of a database that gives each of these rows, and what was asked of it together. */
function open(rows: readonly (KeyedRow | undefined)[], settings = {}) {
  const asked: (readonly (string | undefined)[])[] = [];
  const observed: Observation[] = [];
  const pipeline = (statements: readonly PipelinedStatement[]) => {
    const texts = new Set(statements.map(({ compile }) => printStatement(compile).text));
    assertEquals(texts.size, 1);
    asked.push(statements.map(({ tenant }) => tenant));
    return rows.map((row) => Promise.resolve(row && [row]));
  };
  const database = { settings, pipeline } as unknown as Database;
  const send = pipelineStatements<KeyedRow>(
    database,
    (observation) => observed.push(observation),
    { operation: "update_single", write: true },
  );
  const write = (id: number, tenant = "1", name = "deals") => {
    const table = makeTable([makeColumn("status", "text")], { name });
    const request = parseUpdateRequest({ filters: { id }, fields: { status: "x" } });
    const access = makeAccess({ tenant });
    const plan = planUpdate(request, { table, access, maxAffected: undefined, rollback: false });
    const compile: Compile<KeyedRow> = (sql) => compileUpdateByKey(sql, plan);
    return send({ plan, compile }, () => Promise.resolve(ALONE));
  };
  return { write, asked, observed };
}

describe("pipelineStatements", () => {
  it("runs the first alone and batches those that arrive with it", async () => {
    const { write, asked, observed } = open([WRITTEN, WRITTEN]);
    const rows = await Promise.all([write(1), write(2), write(3)]);
    assertEquals(rows, [ALONE, WRITTEN, WRITTEN]);
    assertEquals(asked, [["1", "1"]]);
    assertEquals(observed, [{ kind: "batch", operation: "update_single", requests: 2 }]);
  });

  it("says which tenant each statement is of", async () => {
    const { write, asked } = open([WRITTEN, WRITTEN]);
    await Promise.all([write(1), write(2, "1"), write(3, "2")]);
    assertEquals(asked, [["1", "2"]]);
  });

  it("runs alone what was undone", async () => {
    const { write } = open([undefined, WRITTEN]);
    assertEquals(await Promise.all([write(1), write(2), write(3)]), [ALONE, ALONE, WRITTEN]);
  });

  it("keeps tables apart", async () => {
    const { write, asked } = open([WRITTEN, WRITTEN]);
    await Promise.all([write(1), write(2, "1", "other"), write(3), write(4, "1", "other")]);
    assertEquals(asked, []);
  });

  it("batches statements that carry the settings of a session, too", async () => {
    const { write, asked } = open([WRITTEN, WRITTEN], { timezone: "UTC" });
    assertEquals(await Promise.all([write(1), write(2), write(3)]), [ALONE, WRITTEN, WRITTEN]);
    assertEquals(asked, [["1", "1"]]);
  });
});
