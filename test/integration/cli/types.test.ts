import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createClient } from "../../../src/client/client.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { runRowgate } from "./run_rowgate.ts";

describe("rowgate types", () => {
  let service: TestService;
  let url = "";
  beforeAll(async () => {
    service = await createTestService("real", { runtime: "deno", policy: {} });
    url = service.server!.address;
  });
  afterAll(() => service.close());

  it("prints the same for a token of a server and for a tenant of the database [R44]", async () => {
    const DATABASE_URL = service.database.servingUrl!;
    const ROWGATE_TOKEN = service.tokens.a;
    const asked = await runRowgate(["types", "--url", `${url}/`, "--token", ROWGATE_TOKEN]);
    assertEquals([asked.code, asked.err], [0, ""]);
    assertMatch(asked.out, /export interface DealsRecord/);
    const byVariable = await runRowgate(["types", "--url", url], { ROWGATE_TOKEN });
    assertEquals(byVariable.out, asked.out);
    // The variable is not an unknown setting.
    const environment = { DATABASE_URL, ROWGATE_TOKEN };
    const read = await runRowgate(["types", "--tenant", "1"], environment);
    assertEquals([read.code, read.out], [0, asked.out]);
  });

  it("prints types that fit every row of the database", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rowgate-types-"));
    const files: string[] = [];
    for (const wideNumbers of [false, true]) {
      const client = createClient({ url, token: service.tokens.a, wideNumbers });
      const parameters = ["types", "--url", url, ...wideNumbers ? ["--wide-numbers"] : []];
      const { out } = await runRowgate(parameters, { ROWGATE_TOKEN: service.tokens.a });
      const lines = [out];
      const tables = await client.tables();
      assert(tables.success && tables.tables.length > 5);
      for (const { name } of tables.tables) {
        const page = await client.query(name, { per_page: 200 });
        assert(page.success);
        const rows = JSON.stringify(page.records);
        lines.push(`export const ${name}: readonly Tables["${name}"]["record"][] = ${rows};`);
      }
      const file = join(folder, wideNumbers ? "wide_rows.ts" : "rows.ts");
      await writeFile(file, lines.join("\n"));
      files.push(file);
    }
    const child = spawn(process.execPath, ["check", "--quiet", "--no-config", ...files], {
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    child.stderr.on("data", (chunk) => text += chunk);
    const code = await new Promise((resolve) => child.once("close", resolve));
    await rm(folder, { recursive: true });
    assertEquals([code, text.slice(0, 2000)], [0, ""]);
  });

  it("reports what is wrong, and shows no token", async () => {
    const token = `${service.tokens.a}x`;
    const unused = "http://127.0.0.1:1";
    const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["--url", url], 2, /^rowgate: no token; set ROWGATE_TOKEN/],
      [["--url", "rows.example", "--token", token], 2, /"rows\.example" is not an address/],
      [["--url", unused, "--token", token], 1, /127\.0\.0\.1:1\/openapi\.json does not answer/],
      [["--url", url, "--token", `${token}\n5`], 1, /does not answer/],
      [["--url", url, "--token", token], 1, /rejects the token/],
      [["--url", `${url}/livez`, "--token", token], 1, /answers 404/],
      [["--tenant", "1", "--token", token], 2, /cannot be used with/],
    ];
    for (const [parameters, code, text] of wrong) {
      const { code: ended, err, out } = await runRowgate(["types", ...parameters]);
      assertEquals([ended, out], [code, ""], err);
      assertMatch(err, text);
      assert(!err.includes(service.tokens.a), err);
    }
  });
});
