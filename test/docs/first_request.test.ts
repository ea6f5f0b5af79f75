// The programs of README.md in Python and TypeScript are run against the demonstration. Python needs nothing but
// `python3`; where it is not installed, its program is skipped, except on CI.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { readDocument, readTexts } from "./blocks.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { runProgram } from "./run_program.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const CLIENT = new URL("../../src/client/client.ts", import.meta.url).href;
const SHOWN = "http://127.0.0.1:8080";

describe("the first request of README.md", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-first-"));
    service = await startDemonstration();
    server = await serveApp(service.app);
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it("works from Python", async () => {
    const [program = "", ...others] = await readPrograms("python");
    assertEquals(others, []);
    const printed = await runProgram("python3", ["-c", program], folder);
    if (printed !== undefined) assertEquals(printed, "A-2026-01472\n");
  });

  it("works from TypeScript", async () => {
    const [program = "", ...others] = await readPrograms("ts");
    assertEquals(others, []);
    const file = join(folder, "first.ts");
    await writeFile(file, program.replace('"rowgate/client"', JSON.stringify(CLIENT)));
    const flags = ["run", "--check", "--quiet", "--no-config", "--allow-net", "--allow-env"];
    assertEquals(await runProgram(process.execPath, [...flags, file], folder), "paid\n");
  });

  async function readPrograms(language: string): Promise<readonly string[]> {
    const programs = readTexts(await readDocument("README.md"), language);
    return programs.map((program) => program.replaceAll(SHOWN, server.address));
  }
});
