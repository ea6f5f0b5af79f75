import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import { printOpenApi } from "../../../src/interface/print_openapi.ts";
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

  it("is made once for all tokens that open the same, and names each one's tenant [RE32]", () => {
    assertEquals(ask("acme").info.title, "Rowgate for acme");
    assertEquals(readings, 1);
    for (const tenant of ["globex", 'a "$&" b', "\u0000tenant", "$1"]) {
      assertEquals(ask(tenant).info.title, `Rowgate for ${tenant}`);
    }
    assertEquals(readings, 1);
    ask("acme", ["query", "update"]);
    assertEquals(readings, 2);
  });
});
