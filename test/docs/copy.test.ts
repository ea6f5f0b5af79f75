// The Python program of the recipes keeps its copy beside writers: after each run it has the rows of the table.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Compile } from "../../src/database/postgres/database.ts";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { runProgram } from "./run_program.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const SHOWN = "http://127.0.0.1:8080";
/** Prints the copy, by key. */
const DUMP = `import json, sqlite3
rows = sqlite3.connect("orders.db").execute("select key, record from orders")
print(json.dumps(sorted([json.loads(key)["id"], json.loads(record)["note"]] for key, record in rows)))`;

describe("the Python program that keeps a copy", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-copy-"));
    service = await startDemonstration();
    server = await serveApp(service.app);
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it("has 20 lines, and after each run the rows of the table [CH8] [CH13]", async () => {
    const [program = ""] = readTexts(await readDocument("docs/recipes.md"), "python");
    assertEquals(program.trimEnd().split("\n").length, 20);
    const keepCopy = () => run(program.replace(SHOWN, server.address));
    if (await keepCopy() === undefined) return;
    assertEquals(await readCopy(), await readTable());
    for (const [id, note] of [[1, "first"], [700, "second"], [1, "third"]] as const) {
      await update(id, note);
      if (id === 700) await keepCopy();
    }
    await keepCopy();
    const copied = await readCopy();
    assertEquals(copied, await readTable());
    assertEquals(copied.filter(([id]) => id === "1"), [["1", "third"]]);
    await remove(2);
    await keepCopy();
    assertEquals(await readCopy(), copied.filter(([id]) => id !== "2"));
    // A cursor that is no longer valid any more: it copies the table again.
    const alter: Compile = (sql) => sql`alter table orders alter column note set default ''`;
    await service.database.run(alter, { write: true });
    await remove(3);
    await keepCopy();
    assertEquals(await readCopy(), copied.filter(([id]) => id !== "2" && id !== "3"));
  });

  async function readCopy(): Promise<[string, string][]> {
    return JSON.parse(await run(DUMP) ?? "[]").map(([id, note]: unknown[]) => [String(id), note])
      .toSorted(byId);
  }

  async function readTable(): Promise<[string, string][]> {
    const rows: [string, string][] = [];
    for (let page = 1;; page++) {
      const body = { select: ["id", "note"], sort: [{ field: "id" }], per_page: 200, page };
      const { records } = await send("POST", "query", body);
      rows.push(...records.map(({ id, note }: Record<string, unknown>) => [String(id), note]));
      if (records.length < 200) return rows.toSorted(byId);
    }
  }

  async function update(id: number, note: string): Promise<void> {
    const body = { filters: { id }, fields: { note } };
    assertEquals((await send("PATCH", "records/single", body)).updated, 1);
  }

  async function remove(id: number): Promise<void> {
    const write = { write: true };
    await service.database.run(
      (sql) => sql`delete from order_lines where order_id = ${String(id)}::text::int8`,
      write,
    );
    await service.database.run(
      (sql) => sql`delete from orders where id = ${String(id)}::text::int8`,
      write,
    );
  }

  async function send(method: string, path: string, body: unknown) {
    const response = await fetch(`${server.address}/integration/tables/orders/${path}`, {
      method,
      headers: { authorization: "Bearer TOKEN", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await response.json();
  }

  function run(program: string): Promise<string | undefined> {
    return runProgram("python3", ["-c", program], folder);
  }
});

function byId([a]: [string, string], [b]: [string, string]): number {
  return Number(a) - Number(b);
}
