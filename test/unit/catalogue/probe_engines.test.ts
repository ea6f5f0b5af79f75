import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FoundTable, Introspection } from "../../../src/catalogue/introspection.ts";
import { probeEngines } from "../../../src/catalogue/probe_engines.ts";
import type {
  Compile,
  Database,
  Step,
  TransactionOptions,
} from "../../../src/database/postgres/database.ts";
import { DatabaseError, makeFailure } from "../../../src/database/postgres/database_error.ts";
import { findKind } from "../../../src/database/postgres/failure_kind.ts";
import { printStatement } from "../../support/print_statement.ts";

/** An error of an engine, in no function of anyone. */
const ORIGIN = { fromServer: true, fatal: false, chosen: false, inFunction: false };
const COLUMN = { name: "code", select: true, update: true, generated: false, identity: false };

function describeTable(name: string, engines: readonly string[] | null): FoundTable {
  const found = { schema: "app", name, kind: "r", pinnable: true, updatable: true, engines };
  return { ...found, columns: [COLUMN] } as unknown as FoundTable;
}

/** Probes tables on a database that fails with a code where the statement matches. */
async function probe(
  tables: readonly FoundTable[],
  { pattern = /^$/, code = "", isClosed = () => false }: {
    readonly pattern?: RegExp;
    readonly code?: string;
    readonly isClosed?: () => boolean;
  } = {},
) {
  const asked: string[] = [];
  function run(compile: Compile): Promise<readonly unknown[]> {
    const { text } = printStatement(compile);
    asked.push(text.trim().split(" ").slice(0, 2).join(" "));
    if (!pattern.test(text)) return Promise.resolve([]);
    const failure = makeFailure(findKind(code, ORIGIN), code);
    return Promise.reject(new DatabaseError(failure, { write: false }));
  }
  async function transact(
    steps: readonly Step[],
    { rollback, onFailure }: TransactionOptions,
  ): Promise<readonly unknown[]> {
    assertEquals(rollback, true);
    for (const step of steps) {
      await run((sql) => step(sql, [] as never) as never).catch((error) => {
        onFailure?.(step);
        throw error;
      });
    }
    return [];
  }
  const { found, complete } = await probeEngines(
    { run, transact } as unknown as Database,
    { tables, distributes: false } as unknown as Introspection,
    isClosed,
  );
  const unsure = found.tables.map(({ mayRefuse }) => mayRefuse === true);
  const abilities = found.tables.map(({ updatable, pinnable }) => [updatable, pinnable]);
  return { asked: asked.sort(), abilities, unsure, complete };
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

  it("finds that an engine fails when it comes to the row, by a table of its own [M24]", async () => {
    const tables = ["a", "b"].map((name) => describeTable(name, ["columnar"]));
    for (const code of ["0A000", "XX000", "55000"]) {
      const { abilities, asked, unsure } = await probe(tables, { pattern: /^update/, code });
      assertEquals([abilities, unsure], [[[false, true], [false, true]], [true, true]], code);
      const own = ["create temporary", "insert into", "update pg_temp.rowgate_engine"];
      assertEquals(asked, [own[0], "explain select", "explain update", ...own.slice(1)]);
    }
    const two = [describeTable("a", ["columnar", "other"]), describeTable("b", ["columnar"])];
    assertEquals((await probe(two)).unsure, [false, false]);
  });

  it("does not know it where there can be no such table; an update may show it [M31]", async () => {
    const tables = [describeTable("a", ["columnar"])];
    for (const [pattern, code] of [[/^create/, "42501"], [/^insert/, "0A000"]] as const) {
      const { abilities, unsure, complete } = await probe(tables, { pattern, code });
      assertEquals([abilities, unsure, complete], [[[true, true]], [true], true]);
    }
    assertEquals((await probe(tables, { isClosed: () => true })).abilities, [[false, true]]);
  });

  it("knows that a read-only database can only be asked, once [M24]", async () => {
    const tables = [describeTable("a", ["columnar"])];
    const { unsure, complete } = await probe(tables, { pattern: /^create/, code: "25006" });
    assertEquals([unsure, complete], [[true], true]);
    const busy = await probe(tables, { pattern: /^create/, code: "53300" });
    assertEquals(busy.complete, false);
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
