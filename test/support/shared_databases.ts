import process from "node:process";

/** Returns the URL of the superuser of the run's Postgres, which is started for the first that asks. */
export async function clusterUrl(): Promise<string> {
  return process.env.ROWGATE_TEST_CLUSTER ?? await ask("cluster");
}

/** Returns the path of a tar with the fixture, as the data directory of an embedded Postgres. */
export async function embeddedTemplate(): Promise<string> {
  return await ask("embedded");
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
