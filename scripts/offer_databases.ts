import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Access } from "../test/support/access.ts";
import {
  type Cluster,
  copyData,
  type MadeData,
  makeData,
  startCluster,
} from "../test/support/cluster.ts";
import { hasInstalledPostgres } from "../test/support/postgres_binaries.ts";
import {
  addDemonstration,
  addFixture,
  makeEmpty,
  migrate,
} from "../test/support/embedded_templates.ts";
import type { EmbeddedTemplate } from "../test/support/shared_databases.ts";
import { makeTemplates } from "../test/support/templates.ts";
import { installPackages } from "./install_packages.ts";
import { makePrograms, PROGRAMS } from "./make_programs.ts";

/** The databases and programs of a run, each of which is made when a test first asks for it. */
export interface OfferedDatabases {
  /** What the tests ask with, as variables of their environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Starts all databases now, for a run that is sure to ask. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

/** What the databases are made with. */
export interface OfferOptions {
  /** Exists as long as the run. */
  readonly folder: string;
  /** The rights that templates are made for, besides the usual ones. */
  readonly accesses: readonly Access[];
}

/**
 * Offers the tests one Postgres, data directories of the embedded one and programs, over HTTP on a free
 * loopback port: `/cluster` answers with the superuser's URL, `/embedded/fixture` with the path of a tar,
 * `/programs/bundle` when the bundle is made. Test files run in workers of another process, so none of
 * them could start what all of them share.
 */
export async function offerDatabases(
  { folder, accesses }: OfferOptions,
): Promise<OfferedDatabases> {
  let data: Promise<MadeData> | undefined;
  let cluster: Promise<Cluster> | undefined;
  const embedded = offerEmbedded(folder);
  const makeDataOnce = () => data ??= prepareData();
  const databases: Offers = {
    "/data": async () => JSON.stringify(await makeDataOnce()),
    "/cluster": async () => {
      cluster ??= makeDataOnce().then((data) => prepareCluster(data, accesses));
      return (await cluster).url;
    },
    "/embedded/empty": () => embedded("empty"),
    "/embedded/fixture": () => embedded("fixture"),
    "/embedded/served_fixture": () => embedded("served_fixture"),
    "/embedded/demonstration": () => embedded("demonstration"),
  };
  const programs = PROGRAMS.map((program) => [
    `/programs/${program}`,
    () => makePrograms([program]).then(() => ""),
  ]);
  const offers: Offers = { ...databases, ...Object.fromEntries(programs) };
  const server = createServer((request, response) => {
    const offer = offers[request.url ?? ""];
    if (offer === undefined) return void response.writeHead(404).end();
    offer().then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listen(server);
  return {
    variables: { ROWGATE_TEST_DATABASES: `http://127.0.0.1:${port}`, ROWGATE_TEST_FOLDER: folder },
    start() {
      // A failure is reported to each test that asks.
      for (const offer of Object.values(databases)) offer().catch(() => {});
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await (await cluster?.catch(() => undefined))?.stop();
      await (await data?.catch(() => undefined))?.remove();
    },
  };
}

/** By path: gives the text of the response. */
type Offers = Readonly<Record<string, () => Promise<string>>>;

async function prepareData(): Promise<MadeData> {
  if (!await hasInstalledPostgres()) await installPackages("test/packages");
  console.log("Starting a throw-away Postgres, for the first test that asks for one");
  return await makeData();
}

async function prepareCluster(
  { data, password }: MadeData,
  accesses: readonly Access[],
): Promise<Cluster> {
  const cluster = await startCluster({ password, fill: (copy) => copyData(data, copy) });
  await makeTemplates(cluster.url, { accesses, served: true });
  return cluster;
}

/** Returns a function that makes a data directory when it is first asked for, and the path of its tar. */
function offerEmbedded(folder: string): (name: EmbeddedTemplate) => Promise<string> {
  const made = new Map<EmbeddedTemplate, Promise<Blob>>();
  const make = (name: EmbeddedTemplate): Promise<Blob> => {
    const tar = made.get(name) ?? MAKERS[name](make);
    made.set(name, tar);
    return tar;
  };
  const written = new Map<EmbeddedTemplate, Promise<string>>();
  const write = async (name: EmbeddedTemplate) => {
    const file = join(folder, `${name}.tar`);
    await writeFile(file, new Uint8Array(await (await make(name)).arrayBuffer()));
    return file;
  };
  return (name) => {
    const file = written.get(name) ?? write(name);
    written.set(name, file);
    return file;
  };
}

type Make = (name: EmbeddedTemplate) => Promise<Blob>;

const MAKERS: Readonly<Record<EmbeddedTemplate, (make: Make) => Promise<Blob>>> = {
  empty() {
    console.log("Preparing the data of the embedded Postgres, for the first test that asks for it");
    return makeEmpty();
  },
  fixture: async (make) => await addFixture(await make("empty")),
  served_fixture: async (make) => await migrate(await make("fixture")),
  demonstration: async (make) => await addDemonstration(await make("empty")),
};

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
