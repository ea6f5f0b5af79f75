import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DocumentedService, startDemonstration } from "../../docs/documented_service.ts";
import { runProgram } from "../../docs/run_program.ts";
import { type AppServer, serveApp } from "../../docs/serve_app.ts";
import { runRowgate } from "./run_rowgate.ts";

const ROWGATE_TOKEN = "TOKEN";

function readText(html: string): string {
  const names: Record<string, string> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return html.replace(/&(lt|gt|quot|#39|amp);/g, (_, name) => names[name]!);
}

/** The examples of a language, as a person copies them. */
function readExamples(page: string, language: string): readonly string[] {
  const blocks = page.matchAll(
    new RegExp(`<figure class="example ${language}">.*?<pre>(.*?)</pre>`, "gs"),
  );
  return [...blocks].map(([, text]) => readText(text!));
}

describe("rowgate handout", () => {
  let service: DocumentedService;
  let server: AppServer;
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-handout-"));
    service = await startDemonstration();
    server = await serveApp(service.app);
    // A row that holds a token.
    const note = `rg_hVn3Kq7Tz2Y_${"a".repeat(46)} </pre><script>`;
    await service.database.run(
      (sql) => sql`update orders set note = ${note}::text where tenant_id = 'acme'`,
      { write: true },
    );
  });
  after(async () => {
    await server.close();
    await service.close();
    await rm(folder, { recursive: true });
  });

  it("writes one file with examples that run, and without the token [R57]", async () => {
    const file = join(folder, "acme.html");
    const parameters = ["handout", "--url", `${server.address}/`, "--out", file];
    const ran = await runRowgate([...parameters, "--tables", "orders,countries"], {
      ROWGATE_TOKEN,
    });
    assertEquals([ran.code, ran.out], [0, ""], ran.err);
    assertMatch(
      ran.err,
      /^Wrote \S+acme\.html with 2 tables; its examples name http:\S+, --public-/,
    );
    assertEquals(await readdir(folder), ["acme.html"]);
    const page = await readFile(file, "utf8");
    assertEquals(page.match(/<h2 id="table-\w+">/g), [
      `<h2 id="table-orders">`,
      `<h2 id="table-countries">`,
    ]);
    assert(!page.includes("Bearer TOKEN") && !page.includes("aaaa") && !/<script/.test(page));
    assertStringIncludes(page, "rg_hVn3Kq7Tz2Y_…");
    for (const [language, count] of [["curl", 8], ["python", 8], ["typescript", 8]] as const) {
      assertEquals(readExamples(page, language).length, count);
    }
    const commands = readExamples(page, "curl").map((command) => `${command}\necho ---`);
    const printed = await runProgram("sh", ["-ec", commands.join("\n")], folder);
    const answers = printed!.split("---\n").slice(0, -1).map((text) => JSON.parse(text));
    assertEquals(answers.map(({ success }) => success), commands.map(() => true), printed);
    // The first query finds rows; the response that is shown is the one that comes.
    const [shown] = [...page.matchAll(/The response, 200<\/figcaption>\s*<pre>(.*?)<\/pre>/gs)]
      .map(([, text]) => JSON.parse(readText(text!)));
    assert(shown.records.length === 2);
    assertEquals(answers[1], shown);
  });

  it("prints it, with an address of its own and made-up values", async () => {
    const parameters = ["handout", "--url", server.address, "--no-values", "--tables", "orders"];
    const shown = ["--public-url", "https://rows.example.com/api/"];
    const { code, out, err } = await runRowgate([...parameters, ...shown], { ROWGATE_TOKEN });
    assertEquals([code, err], [0, ""]);
    assert(!out.includes(server.address) && !out.includes("A-2026-0"), out);
    assertStringIncludes(out, "https://rows.example.com/api/integration/tables/orders/query");
  });

  it("says what is wrong, and writes nothing", async () => {
    const wrong = await Promise.all(
      ([
        [["--token", "TOKEN", "--tables", "order"], 2, /no table "order", did you mean "orders"\?/],
        [["--token", "WRONG"], 1, /rejects the token/],
        [
          ["--token", "TOKEN", "--out", join(folder, "no", "x.html")],
          1,
          /cannot be written \(ENOENT/,
        ],
        [["--token", "TOKEN", "--public-url", "rows"], 2, /--public-url: "rows" is not an address/],
      ] as const).map(async ([words, code, text]) => {
        const ran = await runRowgate(["handout", "--url", server.address, ...words]);
        return { ran, code, text };
      }),
    );
    for (const { ran, code, text } of wrong) {
      assertEquals([ran.code, ran.out], [code, ""], ran.err);
      assertMatch(ran.err, text);
    }
  });
});
