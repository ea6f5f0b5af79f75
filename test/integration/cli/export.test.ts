import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { access, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS, inherit } from "../../support/runtime_server.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { ROOT, runRowgate, startRowgate } from "./run_rowgate.ts";

const INTERRUPTED = /^rowgate: interrupted after \d+ rows; what was written is not all$/m;
/** Bytes of a file; 0 where there is none. */
const sizeOf = (path: string) => stat(path).then(({ size }) => size, () => 0);

describe("rowgate export", () => {
  let service: TestService;
  let url = "";
  let folder = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-export-"));
    service = await createTestService("real", { runtime: "deno" });
    url = service.server!.address;
    await service.database.admin.unsafe(`
      create unlogged table long (id int4 primary key, tenant_id int4 not null, body text);
      insert into long select n, 1, repeat(md5(n::text), 100) from generate_series(1, 60000) n;
      grant select on long to rowgate_app`);
  });
  afterAll(async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...parameters: readonly string[]) =>
    runRowgate(["export", ...parameters, "--url", url], { ROWGATE_TOKEN: service.tokens.a });

  const ask = async (accept: string, body: unknown = {}) =>
    (await service.send("POST", "/integration/tables/deals/query", { body, headers: { accept } }))
      .text;

  it("writes what the service exports to the standard output [EX21]", async () => {
    const lines = await run("deals", "--sort", "fid");
    assertEquals([lines.code, lines.err], [0, ""]);
    assertEquals(lines.out, await ask("application/x-ndjson", { sort: [{ field: "fid" }] }));
    const filters = { and: [{ field: "fid", op: "lte", value: 20 }] };
    const csv = await run(
      ...["deals", "--format", "csv", "--select", "fid, title", "--sort", "-fid"],
      ...["--filters", JSON.stringify(filters)],
    );
    const sort = [{ field: "fid", direction: "desc" }];
    assertEquals(csv.out, await ask("text/csv", { filters, sort, select: ["fid", "title"] }));
    const wide = await run("deals", "--wide-numbers", "--select", "fid", "--sort", "fid");
    assertMatch(wide.out, /^\{"fid":"\d+"\}\n/);
  });

  it("writes a file, which has its name only when it is whole [EX21]", async () => {
    const file = join(folder, "deals.csv");
    const { code, out, err } = await run("deals", "--format", "csv", "--output", file);
    assertEquals([code, out], [0, ""]);
    assertMatch(err, /^Exported 60 rows, \d+ kB in .*deals\.csv\.\n$/);
    assertEquals(
      (await readFile(file, "utf8")).split("\r\n").sort(),
      (await ask("text/csv")).split("\r\n").sort(),
    );
    assertEquals(await readdir(folder), ["deals.csv"]);
  });

  it("fails without a file when the export is cut off [EX21]", async () => {
    const { admin } = service.database;
    const file = join(folder, "long.ndjson");
    const running = startRowgate(["export", "long", "--url", url, "--output", file], {
      ROWGATE_TOKEN: service.tokens.a,
    });
    let ended = 0;
    void running.ended.then(() => ended = 1);
    while (ended === 0) {
      const found = await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate'
          and state = 'active' and query like '%octet_length%'`;
      if (found.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assertEquals(await running.ended, 1, running.output.err);
    assertMatch(running.output.err, /rowgate: /);
    for (const name of [file, `${file}.part`]) {
      assert(await access(name).then(() => false, () => true), name);
    }
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`reports its progress when it is ended by ${signal}, and leaves no file [EX21]`, async () => {
      const file = join(folder, "ended.ndjson");
      const environment = { ROWGATE_TOKEN: service.tokens.a };
      const parameters = ["export", "long", "--url", url];
      const running = startRowgate([...parameters, "--output", file], environment);
      await waitUntil(async () => (await sizeOf(`${file}.part`)) > 0);
      running.send(signal);
      assertEquals(await running.ended, 1, running.output.err);
      assertMatch(running.output.err, INTERRUPTED);
      for (const name of [file, `${file}.part`]) assertEquals(await sizeOf(name), 0);

      const printing = startRowgate(parameters, environment);
      await waitUntil(() => Promise.resolve(printing.output.out.length > 0));
      printing.send(signal);
      assertEquals(await printing.ended, 1, printing.output.err);
      assertMatch(printing.output.err, INTERRUPTED);
      assertMatch(printing.output.out, /^\{"id":\d+,"tenant_id":1,"body":"[0-9a-f]+/);
    });
  }

  it("shows its progress on a terminal, apart from the rows [EX21]", async () => {
    const filters = JSON.stringify({ and: [{ field: "id", op: "lte", value: 20_000 }] });
    const parameters = ["long", "--filters", filters, "--sort", "id", "--url", url];
    const shown =
      /^(\rESC\[2KExporting long: \d+ rows, [\d.]+ [kM]B)+\rESC\[2KExported 20000 rows, /;
    const file = join(folder, "shown.ndjson");
    assertMatch(await runOnTerminal([...parameters, "--output", file]), shown);
    const redirected = join(folder, "redirected.ndjson");
    assertMatch(await runOnTerminal(parameters, redirected), shown);
    const [text, other] = await Promise.all(
      [file, redirected].map((name) => readFile(name, "utf8")),
    );
    assertEquals(text!.split("\n").length, 20_001);
    assert(text === other, "the rows differ");
    assert(!/Export|\r|\[2K/.test(text!), "progress is among the rows");
    // No terminal: nothing is shown in the first ten seconds.
    const piped = await run("deals");
    assertEquals(piped.err, "");
  });

  /** Runs the command on a terminal of its own, its standard output into a file if one is named. */
  async function runOnTerminal(parameters: readonly string[], into?: string): Promise<string> {
    const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
    const words = [...COMMANDS.deno, "export", ...parameters].map(quote).join(" ");
    const command = into === undefined ? words : `${words} > ${quote(into)}`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...inherit(), NO_COLOR: "1", ROWGATE_TOKEN: service.tokens.a },
    });
    let shown = "";
    child.stdout.on("data", (chunk) => shown += chunk);
    const code = await new Promise((resolve) => child.once("close", resolve));
    assertEquals(code, 0, shown);
    return shown.replaceAll("\u001b", "ESC");
  }

  it("reports what is wrong, and shows no token [EX21]", async () => {
    const token = `${service.tokens.a}x`;
    const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["deals"], 2, /^rowgate: no token; set ROWGATE_TOKEN/],
      [["deals", "--token", token, "--url", "rows.example"], 2, /is not an address/],
      [["deals", "--token", token, "--url", "http://127.0.0.1:1"], 1, /does not answer/],
      [["deals", "--token", token, "--url", url], 1, /token/i],
      [["nothing", "--token", service.tokens.a, "--url", url], 1, /table: "nothing" was not found/],
      [
        ["deals", "--token", service.tokens.a, "--url", url, "--select", "nope"],
        1,
        /^rowgate: select\[0\]: /,
      ],
      [["deals", "--format", "xml"], 2, /Allowed choices are ndjson, csv/],
      [["deals", "--filters", "{"], 2, /Expected JSON/],
      [["deals", "--select", "a,,b"], 2, /Expected names/],
      [
        ["deals", "--token", service.tokens.a, "--url", url, "--output", "/nowhere/x"],
        1,
        /cannot be written/,
      ],
    ];
    for (const [parameters, code, text] of wrong) {
      const found = await runRowgate(["export", ...parameters]);
      assertEquals([found.code, found.out], [code, ""], found.err);
      assertMatch(found.err, text);
      assert(!found.err.includes(service.tokens.a), found.err);
    }
  });
});
