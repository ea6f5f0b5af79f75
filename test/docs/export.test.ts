// The programs of docs/export.md are run against the demonstration; a command that is not installed is
// skipped, and the test says so.
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

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
    const printed = await run("sh", ["-c", program]);
    assertEquals(printed, "");
    const lines = (await readFile(join(folder, "orders.csv"), "utf8")).split("\r\n");
    assertEquals([lines[0], lines.at(-1)], ["id,status,total", ""]);
    assertEquals(lines.length - 2, await countOrders({}));
  });

  it("read the lines in Python", async () => {
    const [program = ""] = await readPrograms("python");
    const printed = await run("python3", ["-c", program]);
    if (printed === undefined) return console.log("python3 is not installed: it is not run");
    const paid = await countOrders({ and: [{ field: "status", op: "eq", value: "paid" }] });
    assertMatch(printed, new RegExp(`^${paid} orders, the last one is A-\\d+-\\d+\n$`));
  });

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

  /** Returns what a program prints, both streams; undefined where it is not installed. */
  function run(command: string, parameters: readonly string[]): Promise<string | undefined> {
    const child = spawn(command, parameters, {
      cwd: folder,
      env: { ...process.env, TOKEN: "TOKEN", NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => output += chunk);
    child.stderr.on("data", (chunk) => output += chunk);
    return new Promise((resolve) => {
      child.once("error", () => resolve(undefined));
      child.once("close", () => resolve(output));
    });
  }
});
