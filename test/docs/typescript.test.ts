// The programs in docs/typescript.md are type-checked and run against the demonstration. The block below each program is
// its output. After an intended change: `ROWGATE_WRITE_TYPES=1 deno task test test/docs/typescript.test.ts`.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { printTables } from "../../src/describe/interface/typescript/print_tables.ts";
import { readDemonstration } from "../client/print_demonstration.ts";
import { runDeno } from "../support/run_deno.ts";
import { type DocumentedService, startDemonstration } from "./documented_service.ts";
import { matches } from "./example.ts";
import { type AppServer, serveApp } from "./serve_app.ts";

const PAGE = new URL("../../docs/typescript.md", import.meta.url);
const CLIENT = new URL("../../src/client/client.ts", import.meta.url).href;
const PROGRAM = /```ts\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

describe("the programs in docs/typescript.md", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";
  const markdown = { text: "" };

  before(async () => {
    markdown.text = await readFile(PAGE, "utf8");
    folder = await mkdtemp(join(tmpdir(), "rowgate-typescript-"));
    const tables = printTables(await readDemonstration("TOKEN"), { wideNumbers: false });
    await writeFile(join(folder, "tables.ts"), tables);
    service = await startDemonstration();
    server = await serveApp(service.app);
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it("pass the type check and print the output below them", async () => {
    const programs = [...markdown.text.matchAll(PROGRAM)];
    assertEquals(programs.length, 4);
    const files = await Promise.all(programs.map(([, program = ""], at) => write(program, at)));
    // All at once: most of a type check is to read the types of the runtime.
    const checked = await runDeno(["check", "--quiet", "--no-config", ...files]);
    assertEquals(checked.output, "");
    let text = markdown.text;
    for (const [at, [block, , shown = ""]] of programs.entries()) {
      const location = "--location=https://rows.example.com";
      const allowed = ["--no-check", "--quiet", "--no-config", "--allow-net", location];
      const { output: printed } = await runDeno(["run", ...allowed, files[at]!]);
      if (matches(printed, shown)) continue;
      if (process.env.ROWGATE_WRITE_TYPES === "1") {
        text = text.replace(block, () => block.replace(`text\n${shown}`, () => `text\n${printed}`));
      } else assertEquals(printed, shown);
    }
    if (text !== markdown.text) await writeFile(PAGE, text);
  });

  async function write(program: string, at: number): Promise<string> {
    const file = join(folder, `program_${at}.ts`);
    const here = program.replaceAll('"rowgate/client"', JSON.stringify(CLIENT))
      .replaceAll("https://rows.example.com", server.address).replaceAll("rg_…", "TOKEN");
    await writeFile(file, here);
    return file;
  }
});
