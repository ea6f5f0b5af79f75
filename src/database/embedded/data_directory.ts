import { link, mkdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

/**
 * Creates the data directory if there is none, and locks it for this process. A lock of a process
 * that has ended is taken over. Returns the function that unlocks it.
 * @throws {Error} when the directory cannot be written, or another process has it open
 */
export async function lockDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  await makeWritable(dataDir);
  const file = join(dataDir, "lock");
  const own = `${file}.${process.pid}.${crypto.randomUUID()}`;
  await writeFile(own, JSON.stringify(await identify(process.pid)));
  try {
    // A link is created atomically, so no process reads half a lock.
    for (let attempt = 0; attempt < 3; attempt++) {
      if (await link(own, file).then(() => true, () => false)) {
        return () => unlink(file).catch(() => {});
      }
      const found = await readFile(file, "utf8").catch(() => "");
      if (found !== "" && await isAlive(found)) {
        throw new Error(
          `the data directory ${dataDir} is in use by process ${JSON.parse(found).pid}`,
        );
      }
      await rename(file, `${own}.stale`).catch(() => {});
      await unlink(`${own}.stale`).catch(() => {});
    }
    throw new Error(`the data directory ${dataDir} cannot be locked`);
  } finally {
    await unlink(own).catch(() => {});
  }
}

/**
 * Returns the directory of the cluster below the data directory. A new one is created under another
 * name and moved into place when it is complete: one that was interrupted never counts.
 */
export async function prepareCluster(
  dataDir: string,
  create: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = join(dataDir, "postgres");
  if (await hasCluster(dataDir)) return directory;
  const aside = join(dataDir, "postgres.new");
  await rm(aside, { recursive: true, force: true });
  await create(aside);
  await rename(aside, directory);
  return directory;
}

/** Reports whether a data directory has a complete cluster already. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  return await stat(join(dataDir, "postgres")).then(() => true, () => false);
}

async function makeWritable(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.rowgate.${crypto.randomUUID()}`);
  try {
    await makeDirectory(resolve(dataDir));
    await writeFile(probe, "");
    await unlink(probe);
  } catch (cause) {
    const { code, message } = cause as { readonly code?: string; readonly message: string };
    throw new Error(
      `the data directory ${dataDir} cannot be written (${code ?? message}); ` +
        "ROWGATE_DATA_DIR names another, DATABASE_URL a Postgres of yours",
      { cause },
    );
  }
}

/** Node's own recursive mkdir never returns below /proc (20.20). */
async function makeDirectory(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: 0o700 }).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
  try {
    await make();
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "ENOENT" || dirname(path) === path) {
      throw error;
    }
    await makeDirectory(dirname(path));
    await make();
  }
}

/** The process that has a data directory open. Its id alone is not enough, since ids are reused. */
interface Holder {
  readonly pid: number;
  readonly started: string | undefined;
}

async function isAlive(found: string): Promise<boolean> {
  try {
    const holder = JSON.parse(found) as Holder;
    const now = await identify(holder.pid);
    if (now.started !== undefined || holder.started !== undefined) {
      return now.started === holder.started;
    }
    process.kill(holder.pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Reads when a process started, on systems that have /proc; undefined for a zombie. */
async function identify(pid: number): Promise<Holder> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { pid, started: fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19] };
}
