import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FoundTable, Introspection } from "../../../src/catalogue/introspection.ts";
import { probeEngines } from "../../../src/catalogue/probe_engines.ts";
import type { Compile, Database } from "../../../src/postgres/database.ts";
import { DatabaseError, makeFailure } from "../../../src/postgres/database_error.ts";
import { findKind } from "../../../src/postgres/failure_kind.ts";
import { printStatement } from "../../support/print_statement.ts";

const COLUMN = { name: "code", select: true, update: true, generated: false, identity: false };

function describeTable(name: string, engines: readonly string[] | null): FoundTable {
  const found = { schema: "app", name, kind: "r", pinnable: true, updatable: true, engines };
  return { ...found, columns: [COLUMN] } as unknown as FoundTable;
}

/** Probes tables on a database that fails with a code where the statement matches. */
async function probe(
  tables: readonly FoundTable[],
  { pattern = /^$/, code = "" }: { readonly pattern?: RegExp; readonly code?: string } = {},
) {
  const asked: string[] = [];
  function run(compile: Compile): Promise<readonly unknown[]> {
    const { text } = printStatement(compile);
    asked.push(text.trim().split(" ").slice(0, 2).join(" "));
    if (!pattern.test(text)) return Promise.resolve([]);
    const failure = makeFailure(findKind(code, true) ?? "unknown", code);
    return Promise.reject(new DatabaseError(failure, { write: false }));
  }
  const { found, complete } = await probeEngines(
    { run } as unknown as Database,
    { tables, distributes: false } as unknown as Introspection,
  );
  const abilities = found.tables.map(({ updatable, pinnable }) => [updatable, pinnable]);
  return { asked: asked.sort(), abilities, complete };
}

/** A stand-in for engines that no test can have: they refuse when a statement is planned. */
describe("the probe of engines", () => {
  it("asks nothing of an ordinary schema [M24]", async () => {
    const { asked, abilities } = await probe([describeTable("a", null), describeTable("b", null)]);
    assertEquals([asked, abilities], [[], [[true, true], [true, true]]]);
  });

  it("finds that an engine has no updates or no versions of rows, one table for all [M24]", async () => {
    const tables = ["a", "b", "c"].map((name) => describeTable(name, ["columnar"]));
    for (const code of ["0A000", "XX000", "55000"]) {
      const update = await probe(tables, { pattern: /explain update/, code });
      assertEquals(update.abilities, tables.map(() => [false, true]), code);
      assertEquals(update.asked, ["explain select", "explain update"]);
      const read = await probe(tables, { pattern: /ctid/, code });
      assertEquals(read.abilities, tables.map(() => [true, false]), code);
    }
  });

  it("takes a table with some rows in the heap for one that can be updated [M24]", async () => {
    const mixed = [describeTable("a", ["columnar", "heap"])];
    const { abilities } = await probe(mixed, { pattern: /explain update/, code: "0A000" });
    assertEquals(abilities, [[true, true]]);
  });

  it("decides nothing while the database cannot answer, and asks again [M24]", async () => {
    const tables = [describeTable("a", ["columnar"])];
    const { abilities, complete } = await probe(tables, { pattern: /explain/, code: "55P03" });
    assertEquals([abilities, complete], [[[true, true]], false]);
    assertEquals((await probe(tables)).complete, true);
  });
});
