import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Table } from "../../src/catalogue/catalogue.ts";
import { describeService } from "../../src/describe/interface/openapi/document.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { makeAccess } from "../support/table.ts";

const PACKAGES = fileURLToPath(new URL("../packages/", import.meta.url));

/** Uses both clients of the document for any table, without what has a default. */
const ANY_TABLE = `
import createClient from "openapi-fetch";
import type { paths } from "./schema.ts";
import { queryRecords, updateSingleRecord } from "./heyapi/index.ts";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1" });
const path = { table: "deals" };
const and = [{ field: "fid", op: "eq", value: 1 } as const];
export async function use(): Promise<unknown> {
  const { data, error } = await client.POST("/integration/tables/{table}/query", {
    params: { path },
    body: { filters: { and }, sort: [{ field: "fid" }] },
  });
  if (error) return error.error;
  const title: unknown = data.records[0]?.title;
  const changes = await client.GET("/integration/tables/{table}/changes", { params: { path } });
  const updated = await client.PATCH("/integration/tables/{table}/records/single", {
    params: { path, header: { Prefer: "tx=rollback" } },
    body: { filters: { fid: 1 }, fields: { note: "new", tags: ["a"] } },
  });
  const page = await queryRecords({ path, body: { filters: { or: [{ and }] } } });
  await updateSingleRecord({ path, body: { filters: { fid: 1 }, fields: { note: null } } });
  return [title, changes.data?.cursor, updated.data?.updated, page.data?.total];
}
`;

/** Uses the types of a tenant's own tables, and what these do not allow. */
const OWN_TABLES = `
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";
import { queryRecordsDeals, updateSingleRecordDeals } from "./heyapi/index.ts";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1" });
export type Deal = components["schemas"]["deals.Record"];
export async function use(): Promise<unknown> {
  const { data, error } = await client.POST("/integration/tables/deals/query", {
    body: {
      filters: { and: [{ field: "fid", op: "eq", value: 1 }] },
      select: ["fid", "title"],
      sort: [{ field: "fid" }],
    },
  });
  if (error) return error.error;
  const title: string | undefined = data.records[0]?.title;
  const total: number | null = data.total;
  const body = { filters: { fid: 1 }, fields: { note: "new" } };
  await client.PATCH("/integration/tables/deals/records/single", { body });
  // @ts-expect-error there is no such column
  await client.POST("/integration/tables/deals/query", { body: { select: ["secret_score"] } });
  // @ts-expect-error the key cannot be set
  await updateSingleRecordDeals({ body: { filters: { fid: 1 }, fields: { fid: 2 } } });
  // @ts-expect-error shared tables are not written
  await client.PATCH("/integration/tables/countries/records/single", { body });
  const page = await queryRecordsDeals({ body: {} });
  const first: Deal | undefined = page.data?.records[0];
  await updateSingleRecordDeals({ body });
  return [title, total, first];
}
`;

/** The same of many tables: queries have no types of their own, and some operations are shared. */
const MANY_TABLES = `
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";
import { listChanges, queryRecordsDeals, updateSingleRecordDeals } from "./heyapi/index.ts";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1" });
export type Deal = components["schemas"]["deals.Record"];
export async function use(): Promise<unknown> {
  const { data, error } = await client.POST("/integration/tables/deals/query", {
    params: { query: { after: "token" } },
    body: { filters: { and: [{ field: "fid", op: "eq", value: 1 }] }, sort: [{ field: "fid" }] },
  });
  if (error) return error.error;
  const title: string | undefined = data.records[0]?.title;
  const body = { filters: { fid: 1 }, fields: { note: "new" } };
  const headers = { Prefer: "tx=rollback" };
  await client.PATCH("/integration/tables/deals/records/single", { body, headers });
  const path = { table: "deals" } as const;
  await client.PATCH("/integration/tables/{table}/records/batch", {
    params: { path },
    body: { updates: [body] },
  });
  await client.PATCH("/integration/tables/{table}/records/bulk", {
    // @ts-expect-error shared tables are not written
    params: { path: { table: "countries" } },
    body,
  });
  // @ts-expect-error there is no such column
  await updateSingleRecordDeals({ body: { filters: { fid: 1 }, fields: { secret_score: 2 } } });
  const page = await queryRecordsDeals({ body: {}, headers });
  const first: Deal | undefined = page.data?.records[0];
  const changes = await listChanges({ path, query: { since: "now" } });
  return [title, first, changes.data?.cursor];
}
`;

const DOCUMENTS = {
  any: { name: "for any table", program: ANY_TABLE },
  own: { name: "of a tenant", program: OWN_TABLES },
  many: { name: "of many tables", program: MANY_TABLES },
} as const;

type Form = keyof typeof DOCUMENTS;
const FORMS = Object.keys(DOCUMENTS) as readonly Form[];

/** What a tool prints. */
interface Run {
  readonly code: number;
  readonly output: string;
}

/** Runs a program of test/packages, in a folder. */
async function run(words: readonly string[], input = "", cwd = PACKAGES): Promise<Run> {
  const child = spawn("node", words, { cwd, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stderr.on("data", (chunk) => output += chunk);
  child.stdin.end(input);
  return { code: await new Promise((resolve) => child.once("close", resolve)), output };
}

const COMPILER = join(PACKAGES, "node_modules/typescript/bin/tsc");
const OPTIONS = [
  ...["--noEmit", "--strict", "--skipLibCheck", "--allowImportingTsExtensions"],
  ...["--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"],
];

// Most of what a tool costs is to start it, so each looks at all documents at once.
describe("generated clients", () => {
  let service: TestService;
  let folder: string;
  let generated: Run;
  let checked: Run;
  let linted: Run;
  before(async () => {
    service = await createTestService("real");
    folder = await mkdtemp(join(tmpdir(), "rowgate-clients-"));
    await symlink(join(PACKAGES, "node_modules"), join(folder, "node_modules"));
    const texts: Record<string, string> = {};
    for (const form of FORMS) texts[form] = await ask(form);
    const input = JSON.stringify(texts);
    generated = await run([join(PACKAGES, "generate_clients.mjs"), folder], input);
    for (const form of FORMS) {
      await mkdir(join(folder, form), { recursive: true });
      await writeFile(join(folder, programOf(form)), DOCUMENTS[form].program);
    }
    checked = await run([COMPILER, ...OPTIONS, ...FORMS.map(programOf)], "", folder);
    linted = await run(["lint_openapi_spectral.mjs"], input);
  });
  after(async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const programOf = (form: Form) => `${form}/program.ts`;

  /** The document; of all tables but those with a column such as `constructor`, on which the tools end. */
  async function ask(form: Form): Promise<string> {
    if (form === "any") return (await service.send("GET", "/openapi.json", { token: null })).text;
    const catalogue = await service.catalogue.current();
    const tables = [...catalogue.tables.values()].filter(({ columns }) =>
      [...columns.keys()].every((column) => !(column in {}))
    );
    const names = tables.map(({ name }) => name);
    if (form === "many") {
      const deals = tables.filter(({ name }) => name === "deals" || name === "countries")
        .map((table) => ({ ...table, feed: table.feed ?? {} })) as unknown as readonly Table[];
      return JSON.stringify(describeService({ access: makeAccess({}), tables: deals }, "terse"));
    }
    const token = await service.issue({ tables: names });
    return (await service.send("GET", "/openapi.json", { token })).text;
  }

  it("are made by openapi-typescript and @hey-api/openapi-ts without a warning [H25]", () => {
    assertEquals(
      [generated.code, generated.output.match(/warn|error/i)],
      [0, null],
      generated.output,
    );
  });

  for (const form of FORMS) {
    it(`have types that are right: ${DOCUMENTS[form].name} [H25]`, async () => {
      for (const file of ["schema.ts", "heyapi/index.ts"]) await stat(join(folder, form, file));
      // An error outside of the three folders belongs to all of them.
      const others = FORMS.filter((other) => other !== form);
      const errors = checked.output.split("\n").filter((line) =>
        line !== "" && !others.some((other) => line.startsWith(`${other}/`))
      );
      assertEquals(errors, []);
    });

    it(`come from a document in which Spectral finds nothing: ${DOCUMENTS[form].name} [H25]`, () => {
      assertEquals(linted.code, 0, linted.output);
      assertEquals(linted.output.split("\n").filter((line) => line.startsWith(`${form}: `)), []);
    });
  }

  it("pass the type check, and the documents the linter, as a whole [H25]", () => {
    assertEquals([checked, linted], [{ code: 0, output: "" }, { code: 0, output: "" }]);
  });
});
