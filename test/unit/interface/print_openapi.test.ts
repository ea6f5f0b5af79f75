import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { EXPORT_TYPES } from "../../../src/http/export_format.ts";
import { describeService } from "../../../src/describe/interface/openapi/document.ts";
import { printOpenApi } from "../../../src/describe/interface/print_openapi.ts";
import { makeManyTables, type ManyTables, NAMES } from "../../support/many_table_catalogue.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

describe("the document of a token's tables", () => {
  let readings = 0;
  const table = makeTable([makeColumn("status", "text")]);
  const tables = new Map([["deals", table]]);
  const catalogue = {
    get tables() {
      readings++;
      return tables;
    },
    credentialTables: new Set(),
  } as unknown as Catalogue;
  const ask = (tenant: string, scopes: readonly ("query" | "update")[] = ["query"]) =>
    JSON.parse(printOpenApi(catalogue, makeAccess({ tenant, scopes })));

  it("is made once for all tokens with the same access, and names the tenant of each [RE32]", () => {
    assertEquals(ask("acme").info.title, "Rowgate for acme");
    assertEquals(readings, 1);
    for (const tenant of ["globex", 'a "$&" b', "\u0000tenant", "$1"]) {
      assertEquals(ask(tenant).info.title, `Rowgate for ${tenant}`);
    }
    assertEquals(readings, 1);
    ask("acme", ["query", "update"]);
    assertEquals(readings, 2);
  });

  it("names the tables that share an operation, where the token allows it [H21] [H26]", () => {
    const tables = [
      { ...table, feed: {} as never },
      { ...table, name: "countries", writable: false },
    ];
    const describe = (scopes: readonly ("query" | "update")[], given = tables) =>
      JSON.parse(JSON.stringify(
        describeService({ access: makeAccess({ scopes }), tables: given }, "terse"),
      ));
    const { paths, components } = describe(["query", "update"]);
    const { WritableTable, TableWithFeed } = components.parameters;
    assertEquals([WritableTable.schema.enum, TableWithFeed.schema.enum], [["deals"], ["deals"]]);
    assert("/integration/tables/{table}/records/bulk" in paths);
    const shared = (document: { paths: object }) =>
      Object.keys(document.paths).filter((path) => path.includes("{table}"));
    assertEquals(shared(describe(["query"])), [
      "/integration/tables/{table}/records/single",
      "/integration/tables/{table}/changes",
      "/integration/tables/{table}/fields",
    ]);
    assertEquals(shared(describe(["query", "update"], [tables[1]!])), [
      "/integration/tables/{table}/records/single",
      "/integration/tables/{table}/fields",
    ]);
  });

  it("describes page tokens, exports, batches and the keys of updates [Q93] [EX1] [IK1] [U51]", () => {
    const access = makeAccess({ scopes: ["query", "update"] });
    const { paths } = JSON.parse(JSON.stringify(describeService({ access, tables: [table] })));
    const refer = ({ parameters }: { parameters: { $ref: string }[] }) =>
      parameters.map(({ $ref }) => $ref.split("/").at(-1));
    const query = paths["/integration/tables/deals/query"].post;
    assert(refer(query).includes("After"));
    const { "x-other-media-types": exports } = query.responses[200];
    assertEquals(Object.keys(exports), [EXPORT_TYPES.ndjson, EXPORT_TYPES.csv]);
    for (const how of ["single", "bulk", "batch"]) {
      const update = paths[`/integration/tables/deals/records/${how}`].patch;
      assert(refer(update).includes("IdempotencyKey") && 422 in update.responses, how);
    }
  });

  const forms: Readonly<Record<string, ManyTables>> = {
    "of 8 columns": { columns: 8, comments: false, feeds: false },
    "of 9 columns with comments": { columns: 9, comments: true, feeds: false },
    "of 8 columns with feeds": { columns: 8, comments: false, feeds: true },
    "of 20 columns": { columns: 20, comments: false, feeds: false },
    "of 20 columns with feeds and comments": { columns: 20, comments: true, feeds: true },
    "of 40 columns with feeds and comments": { columns: 40, comments: true, feeds: true },
  };
  for (const [title, form] of Object.entries(forms)) {
    it(`has at most 2 MB for 500 tables ${title}, and every reference leads somewhere [H26]`, () => {
      const text = printOpenApi(makeManyTables(form), makeAccess({ tables: NAMES }));
      assert(text.length <= 2_000_000, String(text.length));
      const document = JSON.parse(text);
      for (const name of NAMES) {
        for (const rest of ["query", "records/single", "records/bulk", "records/batch"]) {
          assert(hasPath(document, name, rest), `${name} ${rest}`);
        }
        assertEquals(hasPath(document, name, "changes"), form.feeds);
        assert(document.components.schemas[`${name}.Record`].properties.column_7 !== undefined);
        const { fields } = document.components.schemas[`${name}.Update`].properties;
        assert(fields.properties.column_7 !== undefined);
      }
      for (const [, path] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
        const found = path!.split("/").reduce((part, key) => part?.[key], document);
        assert(found !== undefined, path);
      }
    });
  }
});

/** The part of a document that paths consist of. */
interface Paths {
  readonly paths: Readonly<Record<string, { readonly [method: string]: Operation }>>;
  readonly components: {
    readonly parameters: Readonly<
      Record<string, { readonly schema: { readonly enum?: string[] } }>
    >;
  };
}
interface Operation {
  readonly parameters: readonly { readonly $ref: string }[];
}

/** Reports whether a table has an operation: at a path of its own, or as a choice of a shared one. */
function hasPath({ paths, components }: Paths, table: string, rest: string): boolean {
  if (`/integration/tables/${table}/${rest}` in paths) return true;
  const shared = Object.values(paths[`/integration/tables/{table}/${rest}`] ?? {});
  return shared.some(({ parameters }) =>
    parameters.some(({ $ref }) =>
      components.parameters[$ref.split("/").at(-1)!]!.schema.enum?.includes(table)
    )
  );
}
