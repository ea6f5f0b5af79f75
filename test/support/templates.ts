import { readFile, writeFile } from "node:fs/promises";
import postgres from "postgres";
import { connectEmbedded } from "../../src/database/driver.ts";
import { openEmbedded } from "../../src/database/embedded.ts";

const FIXTURE = new URL("./fixture.sql", import.meta.url);

/** Makes the databases that every test clones: `template_empty` and `template_fixture`. */
export async function makeTemplates(clusterUrl: string): Promise<void> {
  const fixture = await readFile(FIXTURE, "utf8");
  const quiet = { max: 1, onnotice: () => {} };
  const server = postgres(`${clusterUrl}/postgres`, quiet);
  await server.unsafe("create database template_empty");
  await server.unsafe("create database template_fixture");
  await server.end();
  const sql = postgres(`${clusterUrl}/template_fixture`, quiet);
  await sql.unsafe(fixture);
  await sql.end();
}

/** Makes the data directory that every embedded database of the tests begins with, as a file. */
export async function makeEmbeddedTemplate(file: string): Promise<void> {
  const embedded = await openEmbedded();
  const sql = connectEmbedded(embedded);
  await sql.unsafe(await readFile(FIXTURE, "utf8"));
  await sql.unsafe("discard all");
  await sql.end();
  await writeFile(file, new Uint8Array(await (await embedded.dump()).arrayBuffer()));
  await embedded.close();
}
