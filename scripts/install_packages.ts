import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Where the tests have their Bun. */
export const BUN = "test/packages/node_modules/.bin/bun";

/**
 * Installs what the package.json of a folder says, unless that was done since it was changed; with
 * further words for npm.
 */
export async function installPackages(
  folder: string,
  words: readonly string[] = [],
): Promise<void> {
  const path = join(ROOT, folder);
  const wanted = await readTime(join(path, "package-lock.json"));
  const installed = await readTime(join(path, "node_modules/.package-lock.json"));
  if (installed >= wanted) return;
  console.log(`npm ci in ${folder}`);
  await run("npm", ["ci", "--no-audit", "--no-fund", ...words], path);
}

/** Makes dist/rowgate.js. */
export async function makeBundle(): Promise<void> {
  await installPackages(".");
  console.log("Making dist/rowgate.js, which runs on Node");
  await run("node", ["scripts/bundle.js"], ROOT);
}

/** Makes dist/rowgate, the binary that Bun compiles. */
export async function makeBinary(): Promise<void> {
  await installPackages(".");
  await installPackages("test/packages");
  console.log("Making dist/rowgate, the binary");
  await run(join(ROOT, BUN), ["scripts/compile_bun.js"], ROOT);
}

/** Makes dist/types, the types of the package. */
export async function makeTypes(): Promise<void> {
  await installPackages("test/packages");
  console.log("Making dist/types, the types of the package");
  await run("node", ["scripts/write_types.js"], ROOT);
}

async function readTime(file: string): Promise<number> {
  return await stat(file).then((found) => found.mtimeMs, () => 0);
}

async function run(command: string, parameters: string[], cwd: string): Promise<void> {
  const shell = process.platform === "win32";
  const child = spawn(command, parameters, { cwd, shell, stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${command} ${parameters.join(" ")} ended with ${code}`);
}
