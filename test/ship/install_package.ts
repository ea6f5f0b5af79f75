import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The package, installed in a folder that contains only the examples. */
export interface InstalledPackage {
  readonly folder: string;
  /** The files of the tarball. */
  readonly files: readonly string[];
  readonly remove: () => Promise<void>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NPM = ["--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline"];

/** Packs dist/ as `npm publish` would, and installs it elsewhere. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-package-"));
  // The scripts that make dist/ have run already, and other tests use their output.
  const packed = await run("npm", ["pack", ROOT, "--json", "--ignore-scripts", ...NPM], folder);
  const [{ filename, files }] = JSON.parse(packed);
  await run("npm", ["init", "--yes"], folder);
  await run("npm", ["install", `./${filename}`, ...NPM], folder);
  await cp(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
  return {
    folder,
    files: files.map(({ path }: { readonly path: string }) => path),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs a program in a folder and returns its output. */
export async function run(
  command: string,
  parameters: readonly string[],
  cwd: string,
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, [...parameters], { cwd });
  return stdout;
}
