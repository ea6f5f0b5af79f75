import { readFile } from "node:fs/promises";
import process from "node:process";

/** Returns the URL of the superuser of the run's Postgres, which is started for the first that asks. */
export async function clusterUrl(): Promise<string> {
  return process.env.ROWGATE_TEST_CLUSTER ?? await ask("cluster");
}

/** What the data directory of an embedded Postgres begins with. */
export type EmbeddedTemplate = "empty" | "fixture" | "demonstration";

/** Returns a data directory for an embedded Postgres, made for the first that asks, as a tar. */
export async function embeddedTemplate(name: EmbeddedTemplate): Promise<Blob> {
  const file = await ask(`embedded/${name}`);
  return new Blob([new Uint8Array(await readFile(file))]);
}

async function ask(name: string): Promise<string> {
  const address = process.env.ROWGATE_TEST_DATABASES;
  if (address === undefined) {
    throw new Error(`no test run offers databases: use "deno task test [path]"`);
  }
  const response = await fetch(`${address}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
