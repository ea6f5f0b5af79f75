import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { link, mkdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import type { PGlite } from "@electric-sql/pglite";
import { POOLER_SETTINGS, PRINT_SETTINGS, SESSION_SETTINGS } from "./connection.ts";
import type { DriverSocket } from "./socket.ts";
import { shareSession } from "./share_session.ts";

/** A Postgres in this process, without a port. */
export interface Embedded {
  /** Makes what the driver takes for a socket; all of them share the one session. */
  readonly connect: () => DriverSocket;
  /** Gives the data directory as a tar, to be loaded into another. */
  readonly dump: () => Promise<Blob>;
  /** Ends the session, and gives the data directory free. */
  readonly close: () => Promise<void>;
}

/** Where an embedded Postgres keeps its data; in memory when nothing is said. */
export interface EmbeddedOptions {
  readonly dataDir?: string;
  /** A tar of {@link Embedded.dump} to begin with, if the directory is new. */
  readonly load?: Blob;
}

/**
 * Opens a Postgres in this process, on disk or in memory.
 * @throws {Error} when the data directory can not be written or another process has it open
 * @see R2, R3
 */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const { dataDir } = options;
  if (dataDir !== undefined) await checkFolder(dataDir);
  const unlock = dataDir === undefined ? undefined : await lock(dataDir);
  try {
    const postgres = await start(options);
    return {
      connect: shareSession({
        createEmitter: () => new EventEmitter(),
        execute: async (messages) => {
          const { buffer, byteOffset, byteLength } = await postgres.execProtocolRaw(messages);
          return Buffer.from(buffer, byteOffset, byteLength);
        },
      }),
      dump: () => postgres.dumpDataDir("none"),
      async close() {
        if (!postgres.closed) await postgres.close();
        await unlock?.();
      },
    };
  } catch (error) {
    await unlock?.();
    throw error;
  }
}

/** Loads PGlite, only now and only here: the bundle leaves it out, a binary gives it its files. */
async function start({ dataDir, load }: EmbeddedOptions): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { citext } = await import("@electric-sql/pglite/contrib/citext");
  const extensions = { citext };
  const filling = load === undefined ? { extensions } : { extensions, loadDataDir: load };
  const postgres = dataDir === undefined ? await PGlite.create(filling) : await PGlite.create({
    dataDir: await prepareDirectory(
      dataDir,
      (aside) => PGlite.create({ dataDir: aside, ...filling }),
    ),
    extensions,
  });
  const settings = { ...POOLER_SETTINGS, ...PRINT_SETTINGS, ...SESSION_SETTINGS };
  const text = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  await postgres.exec(text.join(";"));
  return postgres;
}

/** Makes a new cluster aside and moves it into place whole: one that was cut short never counts. */
async function prepareDirectory(
  dataDir: string,
  create: (aside: string) => Promise<PGlite>,
): Promise<string> {
  const directory = join(dataDir, "postgres");
  if (await stat(directory).then(() => true, () => false)) return directory;
  const aside = join(dataDir, "postgres.new");
  await rm(aside, { recursive: true, force: true });
  await (await create(aside)).close();
  await rename(aside, directory);
  return directory;
}

/** Who holds a data directory: a process id alone may be another process after a restart. */
interface Holder {
  readonly pid: number;
  readonly started: string | undefined;
}

/** Makes the data directory, and finds out whether it can be written. */
async function checkFolder(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.rowgate.${crypto.randomUUID()}`);
  try {
    await makeFolder(resolve(dataDir));
    await writeFile(probe, "");
    await unlink(probe);
  } catch (cause) {
    const { code, message } = cause as { readonly code?: string; readonly message: string };
    throw new Error(
      `the data directory ${dataDir} can not be written (${code ?? message}); ` +
        "ROWGATE_DATA_DIR names another, DATABASE_URL a Postgres of yours",
      { cause },
    );
  }
}

/** Node's own recursive mkdir never ends below /proc (20.20). */
async function makeFolder(path: string): Promise<void> {
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
    await makeFolder(dirname(path));
    await make();
  }
}

async function lock(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, "lock");
  const own = `${file}.${process.pid}.${crypto.randomUUID()}`;
  await writeFile(own, JSON.stringify(await identify(process.pid)));
  try {
    // A link is made complete or not at all, so nobody reads half a lock.
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
    throw new Error(`the data directory ${dataDir} can not be locked`);
  } finally {
    await unlink(own).catch(() => {});
  }
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

/** Reads when a process started, where the system tells; a dead one that waits for its parent did not. */
async function identify(pid: number): Promise<Holder> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { pid, started: fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19] };
}
