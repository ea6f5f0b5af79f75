import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Where the tests have their Bun. */
export const BUN = "test/packages/node_modules/.bin/bun";

/** By folder: settles with whether npm had to run. */
const installed = new Map<string, Promise<boolean>>();

/**
 * Installs what the package.json of a folder says, unless that was done since it was changed; with
 * further words for npm. Looks at each folder once in this process.
 * @returns whether npm had to run
 */
export function installPackages(
  folder: string,
  words: readonly string[] = [],
): Promise<boolean> {
  const installing = installed.get(folder) ?? install(folder, words);
  installed.set(folder, installing);
  return installing;
}

async function install(folder: string, words: readonly string[]): Promise<boolean> {
  const path = join(ROOT, folder);
  const wanted = await readTime(join(path, "package-lock.json"));
  const found = await readTime(join(path, "node_modules/.package-lock.json"));
  if (found >= wanted) return false;
  console.log(`npm ci in ${folder}`);
  await run("npm", ["ci", "--no-audit", "--no-fund", ...words], path);
  return true;
}

/** Makes dist/rowgate.js, as the script `prepare` does when npm has installed the packages. */
export async function makeBundle(): Promise<void> {
  if (await installPackages(".")) return;
  console.log("Making dist/rowgate.js, which runs on Bun and Node");
  await run("node", ["scripts/bundle.js"], ROOT);
}

/** Makes dist/rowgate, the binary that Bun compiles. */
export async function makeBinary(): Promise<void> {
  await Promise.all([installPackages("."), installPackages("test/packages")]);
  console.log("Making dist/rowgate, the binary");
  await run(join(ROOT, BUN), ["scripts/compile_bun.js"], ROOT);
}

/** Makes dist/types, the types of the package. */
export async function makeTypes(): Promise<void> {
  await Promise.all([installPackages("."), installPackages("test/packages")]);
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
