import { readFile } from "node:fs/promises";
import postgres from "postgres";
import type { Access } from "./access.ts";

/** The statements that make the tables of the tests. */
export const FIXTURE = new URL("./fixture.sql", import.meta.url);

/**
 * Makes the databases that every test clones: `template_empty` and `template_fixture`, and both once
 * more for each access, `template_fixture_rls`.
 */
export async function makeTemplates(
  clusterUrl: string,
  accesses: readonly Access[] = [],
): Promise<void> {
  await runIn(`${clusterUrl}/postgres`, "create database template_empty");
  await runIn(`${clusterUrl}/postgres`, "create database template_fixture");
  await runIn(`${clusterUrl}/template_fixture`, await readFile(FIXTURE, "utf8"));
  for (const access of accesses.filter((access) => access !== "plain")) {
    const text = await readFile(new URL(`./access_${access}.sql`, import.meta.url), "utf8");
    for (const template of ["template_empty", "template_fixture"]) {
      const name = `${template}_${access}`;
      await runIn(`${clusterUrl}/postgres`, `create database ${name} template ${template}`);
      // The least rights are those on the tables of the fixture.
      const concerns = access === "rls" || template === "template_fixture";
      if (concerns) await runIn(`${clusterUrl}/${name}`, text);
    }
  }
}

async function runIn(url: string, text: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(text);
  await sql.end();
}
