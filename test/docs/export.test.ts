// The programs of docs/export.md are run against the demonstration; a command that is not installed is
// skipped, except on CI.
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { runProgram } from "./run_program.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const CLIENT = new URL("../../src/client/client.ts", import.meta.url).href;
const SHOWN = "http://127.0.0.1:8080";

describe("the programs of docs/export.md", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-export-"));
    service = await startDemonstration();
    server = await serveApp(service.app);
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it("write a file by curl", async () => {
    const [program = ""] = await readPrograms("sh");
    const printed = await runProgram("sh", ["-c", program], folder);
    assertEquals(printed, "");
    const lines = (await readFile(join(folder, "orders.csv"), "utf8")).split("\r\n");
    assertEquals([lines[0], lines.at(-1)], ["id,status,total", ""]);
    assertEquals(lines.length - 2, await countOrders({}));
  });

  it("read the lines in Python", async () => {
    const [program = ""] = await readPrograms("python");
    const printed = await runProgram("python3", ["-c", program], folder);
    if (printed !== undefined) await assertPaid(printed);
  });

  it("read the records in TypeScript", async () => {
    const [program = ""] = await readPrograms("ts");
    const file = join(folder, "export.ts");
    await writeFile(file, program.replace('"rowgate/client"', JSON.stringify(CLIENT)));
    const flags = ["run", "--check", "--quiet", "--no-config", "--allow-net", "--allow-env"];
    await assertPaid((await runProgram(process.execPath, [...flags, file], folder))!);
  });

  async function assertPaid(printed: string): Promise<void> {
    const paid = await countOrders({ and: [{ field: "status", op: "eq", value: "paid" }] });
    assertMatch(printed, new RegExp(`^${paid} orders, the last one is A-\\d+-\\d+\n$`));
  }

  async function countOrders(filters: object): Promise<number> {
    const response = await service.app(
      new Request("http://127.0.0.1/integration/tables/orders/query", {
        method: "POST",
        headers: { "authorization": "Bearer TOKEN", "content-type": "application/json" },
        body: JSON.stringify({ ...("and" in filters && { filters }), per_page: 1 }),
      }),
    );
    return (await response.json()).total;
  }

  async function readPrograms(language: string): Promise<readonly string[]> {
    const programs = readTexts(await readDocument("docs/export.md"), language);
    return programs.map((program) => program.replaceAll(SHOWN, server.address));
  }
});
