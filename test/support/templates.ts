import { readFile } from "node:fs/promises";
import postgres from "postgres";
import type { Access } from "./access.ts";
import { addSchema } from "./add_schema.ts";
import { encodePassword } from "./encode_password.ts";

/** The statements that make the tables of the tests. */
export const FIXTURE = new URL("./fixture.sql", import.meta.url);

/** Which templates a cluster has, besides `template_empty` and `template_fixture`. */
export interface TemplateOptions {
  /** Both once more for each access, such as `template_fixture_rls`. */
  readonly accesses?: readonly Access[];
  /** Each of them once more with the schema `rowgate`, such as `template_fixture_served`. */
  readonly served?: boolean;
}

/** Makes the databases that every test clones. */
export async function makeTemplates(
  clusterUrl: string,
  { accesses = [], served = false }: TemplateOptions = {},
): Promise<void> {
  const clone = (name: string, template: string) =>
    runIn(`${clusterUrl}/postgres`, `create database ${name} template ${template}`);
  const made = ["template_empty", "template_fixture"];
  for (const name of made) await runIn(`${clusterUrl}/postgres`, `create database ${name}`);
  await runIn(`${clusterUrl}/template_fixture`, await readFile(FIXTURE, "utf8"));
  const encoded = encodePassword("rowgate_app");
  await runIn(`${clusterUrl}/postgres`, `alter role rowgate_app password '${encoded}'`);
  for (const access of accesses.filter((access) => access !== "plain")) {
    const text = await readFile(new URL(`./access_${access}.sql`, import.meta.url), "utf8");
    for (const template of ["template_empty", "template_fixture"]) {
      const name = `${template}_${access}`;
      await clone(name, template);
      made.push(name);
      // The least rights are those on the tables of the fixture.
      const concerns = access === "rls" || template === "template_fixture";
      if (concerns) await runIn(`${clusterUrl}/${name}`, text);
    }
  }
  for (const template of served ? made : []) {
    const name = `${template}_served`;
    await clone(name, template);
    await addSchema(`${clusterUrl}/${name}`);
  }
}

async function runIn(url: string, text: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(text);
  await sql.end();
}
