/**
 * Has the app of connectors/zapier validated and built by Zapier's own command:
 * `deno run -A scripts/try_zapier.ts --cli=/tmp/zapier [--node=/path/to/node]`, where /tmp/zapier has the
 * package zapier-platform-cli installed, and Node is 22 or later. It is 200 MB and needs this newer Node, so
 * the tests do without. It asks no server: what Zapier checks after a login is left out.
 */
import { deepEqual, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readOption, step } from "./try_step.ts";

const SOURCE = fileURLToPath(new URL("../connectors/zapier", import.meta.url));
/** Lists the files of a zip, by a package that the command brings. */
const LIST = `const Zip = require("adm-zip");
console.log(new Zip(process.argv[1]).getEntries().map(({ entryName }) => entryName).join(" "));`;

const cli = readOption("cli");
const node = readOption("node") ?? "node";
if (cli === undefined) {
  console.error("try_zapier.ts --cli=FOLDER [--node=PROGRAM]");
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "rowgate-zapier-"));
const app = join(folder, "app");
await cp(SOURCE, app, { recursive: true });
const command = join(cli, "node_modules/zapier-platform-cli");
const { version } = JSON.parse(
  await readFile(join(command, "package.json"), "utf8"),
);
console.log(`zapier-platform-cli ${version}, in ${folder}`);

/** Runs a program, and returns all that it printed, and its code. */
async function run(program: string, words: readonly string[], cwd = app) {
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH, HOME: folder, CI: "1" };
  return await new Promise<{ code: unknown; output: string }>((resolve) =>
    execFile(
      program,
      words,
      { cwd, env },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  );
}
const zapier = (...words: string[]) => run(node, [join(command, "src/bin/run"), ...words]);

await step("installs what the app runs on", async () => {
  const { code, output } = await run("npm", ["install", "--ignore-scripts", "--no-audit"]);
  deepEqual(code, 0, output);
  return output.trim().split("\n", 1)[0]!;
});
await step("validates the app", async () => {
  const { code, output } = await zapier("validate", "--without-style");
  deepEqual(code, 0, output);
  match(output, /structurally sound/);
  return "structurally sound";
});
await step("rejects an app that is wrong", async () => {
  const file = join(app, "creates/update_many.js");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace('noun: "Record"', "noun: 5"));
  const { code, output } = await zapier("validate", "--without-style");
  await writeFile(file, text);
  deepEqual(code, 1, output);
  return /App\.\S+/.exec(output)![0];
});
await step("builds what is uploaded", async () => {
  const { code, output } = await zapier("build", "--skip-validation");
  deepEqual(code, 0, output);
  const list = async (zip: string) =>
    (await run(node, ["-e", LIST, join(app, "build", zip)], cli)).output.trim().split(" ");
  const source = await list("source.zip");
  ok(source.includes("index.js") && source.every((file) => !file.includes("node_modules")));
  return `${(await list("build.zip")).length} files; the source: ${source.sort().join(" ")}`;
});
