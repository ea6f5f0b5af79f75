import { assert } from "@std/assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { runProgram } from "./run_program.ts";

const BETWEEN = "--- next ---";

/** Each runs programs in one process, each as it is. */
const PYTHON = `import json
for program in json.load(open("programs.json")):
    exec(program, {})
    print("${BETWEEN}")`;
const JAVASCRIPT = `import { readFile, writeFile } from "node:fs/promises";
const programs = JSON.parse(await readFile("programs.json", "utf8"));
for (const [place, program] of programs.entries()) {
  await writeFile(\`\${place}.mjs\`, program);
  await import(\`./\${place}.mjs\`);
  console.log("${BETWEEN}");
}`;

/** What runs copied requests. */
export type Runner = "curl" | "Python" | "Deno" | "Node";

/**
 * Runs copied requests with the token of the documents, in order, and gives the JSON that each prints;
 * undefined where Python is not installed, which is an error on CI.
 */
export async function runCopied(
  runner: Runner,
  programs: readonly string[],
): Promise<readonly Record<string, unknown>[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-copied-"));
  try {
    await writeFile(join(folder, "programs.json"), JSON.stringify(programs));
    await writeFile(join(folder, "run.mjs"), JAVASCRIPT);
    const [command, parameters] = choose(runner, programs);
    const printed = await runProgram(command, parameters, folder);
    if (printed === undefined) return undefined;
    const bodies = printed.split(`${BETWEEN}\n`);
    assert(bodies.length === programs.length + 1 && bodies.at(-1) === "", printed);
    return bodies.slice(0, -1).map((body) => JSON.parse(body));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function choose(runner: Runner, programs: readonly string[]): [string, readonly string[]] {
  const shell = programs.map((command) => `${command}\necho; echo '${BETWEEN}'`).join("\n");
  switch (runner) {
    case "curl":
      return ["sh", ["-ec", shell]];
    case "Python":
      return ["python3", ["-c", PYTHON]];
    case "Deno":
      return [process.execPath, ["run", "--quiet", "--no-config", "-A", "run.mjs"]];
    case "Node":
      return ["node", ["run.mjs"]];
  }
}
