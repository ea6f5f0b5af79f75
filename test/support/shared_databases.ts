import { readFile } from "node:fs/promises";
import process from "node:process";

/** Reports whether `ROWGATE_TEST_CLUSTER` names a cluster in place of the run's. */
export function hasOtherCluster(): boolean {
  return process.env.ROWGATE_TEST_CLUSTER !== undefined;
}

/** Returns the URL of the superuser of the run's Postgres, which is started for the first that asks. */
export async function clusterUrl(): Promise<string> {
  return process.env.ROWGATE_TEST_CLUSTER ?? await ask("cluster");
}

/** The data of a cluster as initdb makes them, which takes a second, and the superuser's password in them. */
export interface PreparedData {
  readonly data: string;
  readonly password: string;
}

/** Returns the data that clusters of this run may copy; undefined outside of a run. */
export async function preparedData(): Promise<PreparedData | undefined> {
  const isRun = process.env.ROWGATE_TEST_DATABASES !== undefined;
  return isRun ? JSON.parse(await ask("data")) : undefined;
}

/** What the data directory of an embedded Postgres begins with. */
export type EmbeddedTemplate = "empty" | "fixture" | "served_fixture" | "demonstration";

/** Returns a data directory for an embedded Postgres, made for the first that asks, as a tar. */
export async function embeddedTemplate(name: EmbeddedTemplate): Promise<Blob> {
  return new Blob([new Uint8Array(await readFile(await embeddedTemplateFile(name)))]);
}

/** Returns the path of that tar. */
export async function embeddedTemplateFile(name: EmbeddedTemplate): Promise<string> {
  return await ask(`embedded/${name}`);
}

/** Waits until the run has made a program, such as the bundle. */
export async function awaitProgram(name: string): Promise<void> {
  await ask(`programs/${name}`);
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
