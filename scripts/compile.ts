/**
 * Compiles the command into one binary: `deno task compile [--target=all|linux-x64|…]`, with
 * `--with=bun` by Bun. Without a target it is dist/rowgate for this machine, else for example
 * dist/rowgate-linux-x64.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { BUN, installPackages, makeBundle } from "./install_packages.ts";
import { planCompile } from "./plan_compile.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The targets, by Bun's names and Deno's. */
const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "windows-x64": "x86_64-pc-windows-msvc",
};

const target = readOption("target");
const targets = target === "all" ? Object.keys(TARGETS) : [target];
if (targets.some((name) => name !== undefined && !Object.hasOwn(TARGETS, name))) {
  console.error(`--target=${target}: expected all or one of ${Object.keys(TARGETS).join(", ")}`);
  process.exit(2);
}
const compile = readOption("with") === "bun" ? compileWithBun : compileWithDeno;
if (compile === compileWithBun) await installPackages("test/packages");
await makeBundle();
for (const name of targets) {
  const code = await compile(name);
  if (code !== 0) process.exit(code);
}

async function compileWithDeno(name: string | undefined): Promise<number> {
  const output = join(ROOT, "dist", name === undefined ? "rowgate" : `rowgate-${name}`);
  const code = await run(process.execPath, planCompile(output, name && TARGETS[name]));
  if (code !== 0) console.error('"deno task compile:bun" works without Deno\'s compile runtime');
  return code;
}

function compileWithBun(name: string | undefined): Promise<number> {
  const words = name === undefined ? [] : [`--target=${name}`];
  return run(join(ROOT, BUN), ["scripts/compile_bun.js", ...words]);
}

function run(command: string, parameters: readonly string[]): Promise<number> {
  const child = spawn(command, [...parameters], { cwd: ROOT, stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

function readOption(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((word) => word.startsWith(prefix))?.slice(prefix.length);
}
