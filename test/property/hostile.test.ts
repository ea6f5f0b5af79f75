import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { DATABASE_KINDS } from "../support/database.ts";
import { createTestService } from "../support/service.ts";
import type { ReceivedResponse, TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { digestOthers } from "./digest_others.ts";
import { arbitraryHostileRequest } from "./hostile_request.ts";
import type { HostileRequest } from "./hostile_request.ts";
import type { Operation } from "./open_oracle.ts";

/** The members of a 200 of each operation. */
const MEMBERS: Readonly<Record<Operation, readonly string[]>> = {
  "query": ["page", "per_page", "records", "success", "table", "total"],
  "records/single": ["fields", "matched", "success", "table", "updated"],
  "records/bulk": ["success", "table", "updated"],
};

for (const kind of DATABASE_KINDS) {
  describe(`a hostile request, ${kind}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await createTestService(kind);
    });
    afterAll(() => service?.close());

    it("gets 200 or an error body, never 500 [S12] [Q80] [U24] [U34] [E1] [E2] [E3] [S13] [HT22]", async () => {
      const law = fc.asyncProperty(arbitraryHostileRequest(), async (request) => {
        const response = await sendHostile(service, request);
        assertShape(response, request);
        assertOwn(response, request);
      });
      // Those of the next test are checked for this as well: 3,000 together, 1,500 embedded.
      await checkLaw(law, { runs: kind === "real" ? 600 : 500 });
    });

    it("neither reads nor changes another tenant's row [S9] [S10] [S8] [E44]", async () => {
      const before = await digestOthers(service.database.admin);
      assert(Object.keys(before).length > 20);
      const batches = fc.array(arbitraryHostileRequest(), { minLength: 40, maxLength: 40 });
      const law = fc.asyncProperty(batches, async (requests) => {
        for (const request of requests) {
          const response = await sendHostile(service, request);
          assertShape(response, request);
          assertOwn(response, request);
        }
        assertEquals(await digestOthers(service.database.admin), before);
      });
      await checkLaw(law, { runs: kind === "real" ? 60 : 25 });
    });

    it("that names another tenant's rows finds and changes none [S9] [S10] [S8]", async () => {
      const before = await digestOthers(service.database.admin);
      const law = fc.asyncProperty(
        fc.constantFrom(...ATTACKS),
        fc.constantFrom<Operation>("query", "records/single", "records/bulk"),
        async ({ table, field, value, set }, operation) => {
          const body = operation === "query"
            ? { filters: { or: [{ field, op: "eq", value }, { field, op: "in", value: [value] }] } }
            : { filters: { [field]: value }, fields: { [set]: "1" } };
          const request = { table, operation, raw: JSON.stringify(body), headers: {} };
          const response = await sendHostile(service, request);
          if (operation === "query") assertEquals(response.body.total, 0, response.text);
          else if (operation === "records/bulk") {
            assertEquals(response.body.updated, 0, response.text);
          } else assertEquals([response.status, response.body.matched], [404, 0], response.text);
        },
      );
      await checkLaw(law, { runs: 60 });
      assertEquals(await digestOthers(service.database.admin), before);
      const { a, b } = service.tokens;
      for (const [token, changed] of [[a, 0], [b, 1]] as const) {
        const body = { filters: { id: 1008 }, fields: { name: "changed" } };
        const path = "/integration/tables/frozen/records/bulk";
        const response = await service.send("PATCH", path, { token, body });
        assertEquals(response.body.updated, changed, response.text);
      }
      const after = await digestOthers(service.database.admin);
      assertEquals(Object.keys(after).filter((name) => after[name] !== before[name]), ["frozen"]);
    });
  });
}

/** Equalities that only rows of tenant 2 match. */
const ATTACKS = [
  { table: "deals", field: "fid", value: 1001, set: "note" },
  { table: "deals", field: "tenant_id", value: 2, set: "note" },
  { table: "deals", field: "title", value: "Deal 1 CANARY", set: "note" },
  { table: "measurements", field: "id", value: 1001, set: "sensor" },
  { table: "order_lines", field: "product", value: "Product 11 CANARY", set: "product" },
  { table: "events_log", field: "kind", value: "login CANARY", set: "amount" },
  { table: "notes", field: "org_id", value: "2", set: "body" },
  { table: "letters", field: "org", value: "2", set: "body" },
  { table: "ledger", field: "company_no", value: 2, set: "amount" },
  { table: "bookings", field: "reference", value: "REF-1-CANARY", set: "price" },
  { table: "frozen", field: "id", value: 1008, set: "name" },
];

async function sendHostile(
  service: TestService,
  { table, operation, raw, headers }: HostileRequest,
): Promise<ReceivedResponse> {
  const method = operation === "query" ? "POST" : "PATCH";
  return await service.send(method, `/integration/tables/${table}/${operation}`, { raw, headers });
}

function assertShape(response: ReceivedResponse, { operation }: HostileRequest): void {
  const { status, text, body } = response;
  const members = Object.keys(JSON.parse(text)).sort();
  assertMatch(response.headers.get("content-type") ?? "", /^application\/json\b/);
  if (status === 200) {
    assertEquals(body.success, true);
    assertEquals(members, [...MEMBERS[operation]]);
    return;
  }
  assert([400, 403, 404, 409].includes(status), `${status} ${text}`);
  assertEquals(body.success, false);
  assert(typeof body.error === "string" && body.error !== "" && !body.error.endsWith("."), text);
  const counted = operation === "records/single" && "matched" in body;
  assertEquals(members, counted ? ["error", "matched", "success"] : ["error", "success"]);
  if (!counted) return;
  assert(status === 404 ? body.matched === 0 : status === 409 && Number(body.matched) > 1, text);
}

/** Nothing of tenant 2, whose texts contain CANARY and whose keys are 1001 to 1260; no SECRET. */
function assertOwn({ status, text, body }: ReceivedResponse, { raw }: HostileRequest): void {
  // A name such as "$row" of a statement, before one of its columns.
  assert(!/SECRET|SQLSTATE|pg_catalog|"\$[a-z]+\\?"\./.test(text) || said(raw, text), text);
  assert(!text.includes("CANARY"), text);
  if (status !== 200 || !Array.isArray(body.records)) return;
  for (const record of body.records as Record<string, unknown>[]) {
    for (const key of ["id", "fid", "Id", "tenant_id", "org_id", "org", "company_no"]) {
      const value = record[key];
      if (value === undefined || value === null) continue;
      const own = key === "id" || key === "fid" || key === "Id" ? Number(value) < 1000 : value == 1;
      assert(own, `${key} ${value}: ${text}`);
    }
  }
}

/** An error may quote the request. */
function said(raw: string | Uint8Array, text: string): boolean {
  const request = typeof raw === "string" ? raw : new TextDecoder().decode(raw);
  return [...text.matchAll(/SECRET|SQLSTATE|pg_catalog|\$t|\$r/g)].every(([word]) =>
    request.includes(word)
  );
}
