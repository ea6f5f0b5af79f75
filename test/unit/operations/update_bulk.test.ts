import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Catalogue } from "../../../src/catalogue/catalogue.ts";
import type { CurrentCatalogue } from "../../../src/catalogue/current_catalogue.ts";
import type { Database } from "../../../src/postgres/database.ts";
import type { Call } from "../../../src/operations/call.ts";
import { updateBulk } from "../../../src/operations/update_bulk.ts";
import { parseJson } from "../../../src/json/parse_json.ts";
import type { Access } from "../../../src/tokens/token.ts";
import { makeColumn, makeTable } from "../../support/table.ts";

const BODY = '{"filters": {"n": 1}, "fields": {"n": 2}}';

/** A call whose database has updated so many rows. */
function makeCall(updated: string): Call {
  const table = makeTable([makeColumn("n", "int4")]);
  const catalogue: Partial<Catalogue> = {
    tables: new Map([["deals", table]]),
    credentialTables: new Set(),
  };
  const access: Partial<Access> = { tenant: "1", scopes: ["update"], tables: null };
  const database = { settings: {}, run: () => Promise.resolve([{ updated, exceeding: null }]) };
  return {
    access: access as Access,
    table: "deals",
    readDocument: () => Promise.resolve(parseJson(BODY)),
    readWishes: () => ({ count: true, maxAffected: undefined, rollback: false }),
    wideNumbersAsText: false,
    limits: {},
    client: new AbortController(),
    database: database as unknown as Database,
    catalogue: { current: () => Promise.resolve(catalogue) } as unknown as CurrentCatalogue,
    lookUp: (_wanted, alone) => alone(),
    readByKey: (_short, alone) => alone(),
    writeByKey: (_short, alone) => alone(),
    tenantSetting: undefined,
  };
}

describe("updateBulk", () => {
  for (const updated of ["0", "2147483648", "4294967297", "9007199254740993"]) {
    it(`tells that ${updated} rows were updated, digit for digit [UB16]`, async () => {
      const { json } = await updateBulk(makeCall(updated));
      assertEquals(json, `{"success":true,"table":"deals","updated":${updated}}`);
    });
  }
});
