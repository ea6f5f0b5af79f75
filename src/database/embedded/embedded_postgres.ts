import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { PGlite } from "@electric-sql/pglite";
import type { Config } from "../../server/config/config.ts";
import { POOLER_SETTINGS, SESSION_SETTINGS, VALUE_SETTINGS } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import { openDatabase } from "../postgres/open_database.ts";
import type { EmbeddedServer } from "../postgres/session_opener.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { lockDataDirectory, prepareCluster } from "./data_directory.ts";
import { shareSession } from "./shared_session.ts";

/** Postgres in this process (PGlite), without a port. */
export interface Embedded extends EmbeddedServer {
  /** Returns the data directory as a tar, which {@link EmbeddedOptions.load} takes. */
  readonly dump: () => Promise<Blob>;
}

/** Where an embedded Postgres keeps its data. */
export interface EmbeddedOptions {
  /** In memory when undefined. */
  readonly dataDir?: string;
  /** A tar of {@link Embedded.dump} to begin with, if the directory is new. */
  readonly load?: Blob;
}

/**
 * Opens the database of the configuration: the operator's Postgres, which may be unavailable at first,
 * or the embedded one when `DATABASE_URL` is not set.
 * @throws {Error} when DATABASE_URL cannot be parsed, or the data directory is in use
 * @see R1, R2
 */
export async function openConfiguredDatabase(config: Config, observe: Observe): Promise<Database> {
  if (config.databaseUrl !== undefined) return openDatabase(config, observe);
  const embedded = await openEmbedded({ dataDir: config.dataDir });
  return openDatabase(config, observe, { embedded });
}

/**
 * Opens a Postgres in this process, on disk or in memory.
 * @throws {Error} when the data directory cannot be written or another process has it open
 * @see R2, R3
 */
export async function openEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const { dataDir } = options;
  const unlock = dataDir === undefined ? undefined : await lockDataDirectory(dataDir);
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

/** Imports PGlite only when it is needed: the bundle leaves it out, and a binary gives it its files. */
async function start({ dataDir, load }: EmbeddedOptions): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { citext } = await import("@electric-sql/pglite/contrib/citext");
  const extensions = { citext };
  const filling = load === undefined ? { extensions } : { extensions, loadDataDir: load };
  const postgres = dataDir === undefined ? await PGlite.create(filling) : await PGlite.create({
    dataDir: await prepareCluster(
      dataDir,
      async (aside) => await (await PGlite.create({ dataDir: aside, ...filling })).close(),
    ),
    extensions,
  });
  const settings = { ...POOLER_SETTINGS, ...VALUE_SETTINGS, ...SESSION_SETTINGS };
  const text = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  await postgres.exec(text.join(";"));
  return postgres;
}
