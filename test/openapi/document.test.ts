import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { DATABASE_KINDS } from "../support/database.ts";
import { openDocument } from "../support/openapi.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { makeAccess, makeColumn, makeTable } from "../support/table.ts";
import { describeService } from "../../src/describe/interface/openapi/document.ts";

const LINTER = fileURLToPath(new URL("../packages/lint_openapi.mjs", import.meta.url));

/** Documents by their names. */
function describeAll(): Readonly<Record<string, unknown>> {
  const table = makeTable([makeColumn("status", "text")]);
  const tables = [{ ...table, feed: {} as never }, { ...table, name: "countries" }];
  const access = makeAccess({ scopes: ["query", "update"] });
  return {
    full: describeService(),
    brief: describeService({ access, tables }, "brief"),
    terse: describeService({ access, tables }, "terse"),
  };
}

/** Returns the problems that Redocly's linter finds in documents, a line each, with the document's name. */
async function lint(documents: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const child = spawn("node", [LINTER], { stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stdin.end(JSON.stringify(documents));
  const code = await new Promise((resolve) => child.once("close", resolve));
  assertEquals(code, 0);
  return output.split("\n").filter((line) => line !== "");
}

describe("the OpenAPI document", () => {
  let problems: readonly string[];
  before(async () => problems = await lint(describeAll()));

  for (const name of ["full", "brief", "terse"]) {
    it(`passes the linter when it is ${name}`, () => {
      assertEquals(problems.filter((line) => line.startsWith(`${name}: `)), []);
    });
  }

  it("accepts the shapes that the service accepts, and no others", () => {
    const check = openDocument();
    const answered = { success: true, table: "t", page: 1, per_page: 50, total: 0, records: [] };
    const isDescribed = (sent: unknown) =>
      check({
        method: "POST",
        path: "/integration/tables/t/query",
        sent,
        status: 200,
        answered,
      }) ===
        undefined;
    const condition = (value: unknown) => ({ filters: { and: [value] } });
    for (
      const sent of [
        {},
        {
          filters: { or: [{ and: [] }] },
          select: [],
          sort: [{ field: "a" }],
          page: 1,
          per_page: 999,
        },
        condition({ field: "a", op: "is_null" }),
        condition({ field: "a", op: "in", value: [1, null] }),
        condition({ field: "a", op: "between", value: [1, "2"] }),
      ]
    ) assertEquals(isDescribed(sent), true, JSON.stringify(sent));
    for (
      const sent of [
        { perpage: 1 },
        { page: 0 },
        { page: 1.5 },
        { select: ["a-b"] },
        { sort: [{ field: "a", direction: "up" }] },
        { filters: {} },
        { filters: { and: [], or: [] } },
        condition({ field: "a", op: "is_null", value: 1 }),
        condition({ field: "a", op: "eq" }),
        condition({ field: "a", op: "eq", value: [1] }),
        condition({ field: "a", op: "gt", value: null }),
        condition({ field: "a", op: "in", value: [] }),
        condition({ field: "a", op: "between", value: [1] }),
        condition({ field: "a", op: "like", value: 1 }),
        condition({ field: "a", op: "eq", value: 1, x: 1 }),
      ]
    ) assertEquals(isDescribed(sent), false, JSON.stringify(sent));
  });
});

for (const kind of DATABASE_KINDS) {
  describe(`GET /openapi.json (${kind})`, () => {
    let service: TestService;
    before(async () => service = await createTestService(kind));
    after(() => service.close());

    const ask = (token: string | null) => service.send("GET", "/openapi.json", { token });

    it("describes the API for any table without a token, and lists no table [H20]", async () => {
      const { status, body, headers } = await ask(null);
      assertEquals(status, 200);
      assertEquals(body, JSON.parse(JSON.stringify(describeService())));
      assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
      const again = await service.send("GET", "/openapi.json", {
        token: null,
        headers: { "if-none-match": headers.get("etag")! },
      });
      assertEquals(again.status, 304);
    });

    it("rejects an invalid token instead of describing less [H22]", async () => {
      assertEquals((await ask("rg_unknown")).status, 401);
    });

    it("describes the tables of the token: no hidden column, no update without the right [H21]", async () => {
      const { body } = await ask(service.tokens.a);
      const { paths, components } = body as unknown as {
        paths: Record<string, unknown>;
        components: { schemas: Record<string, Record<string, unknown>> };
      };
      assertEquals("/integration/tables/deals/query" in paths, true);
      assertEquals("/integration/tables/user_passwords/query" in paths, false);
      assertEquals("/integration/tables/countries/records/bulk" in paths, false);
      const record = components.schemas["deals.Record"]!;
      assertEquals(record["x-primary-key"], ["fid"]);
      assertEquals("secret_score" in (record.properties as object), false);
      const queryOnly = (await ask(service.tokens.query)).body.paths as object;
      assertEquals("/integration/tables/deals/records/bulk" in queryOnly, false);
      const oneTable = (await ask(service.tokens.deals)).body.paths as object;
      const named = Object.keys(oneTable).filter((path) => path.includes("/tables/"));
      assertEquals(named.every((path) => path.startsWith("/integration/tables/deals/")), true);
    });

    it("is made once for all tokens with the same access, however often it is requested [RE32]", async () => {
      const catalogue = await service.catalogue.current();
      const { tables } = catalogue;
      let readings = 0;
      Object.defineProperty(catalogue, "tables", { get: () => (readings++, tables) });
      const tokens = [await service.issue(), await service.issue({ tenant: "2" })];
      for (let round = 0; round < 5; round++) {
        for (const token of tokens) assertEquals((await ask(token)).status, 200);
      }
      assert(await service.catalogue.current() === catalogue);
      const asked = readings;
      assert(asked <= 1, `${asked} readings`);
      // Of a token that opens something else, it is made anew.
      await ask(await service.issue({ tables: ["deals", "guests"] }));
      assertEquals(readings, asked + 1);
    });

    it("passes the linter with a token too", async () => {
      assertEquals(await lint({ own: (await ask(service.tokens.a)).body }), []);
    });

    it("types every row of every table as the service sends it", async () => {
      const { tables } = await readHolder(service);
      const check = openDocument(await readHolder(service));
      for (const { name } of tables) {
        const path = `/integration/tables/${name}/query`;
        const sent = { per_page: 200 };
        for (const token of [service.tokens.a, service.tokens.b]) {
          const { status, body } = await service.send("POST", path, { body: sent, token });
          assertEquals(
            check({ method: "POST", path, sent, status, answered: body }),
            undefined,
            name,
          );
        }
      }
    });
  });
}

async function readHolder(service: TestService) {
  const catalogue = await service.catalogue.current();
  const access = { tenant: "1", scopes: ["query", "update"], tables: null };
  return { access, tables: [...catalogue.tables.values()] } as unknown as
    & Parameters<
      typeof openDocument
    >[0]
    & object;
}
