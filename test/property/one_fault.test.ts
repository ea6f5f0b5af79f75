import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { createTestService } from "../support/service.ts";
import type { ReceivedResponse, TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { dumpDeals, findingsOf } from "./findings_of.ts";
import { printBody } from "./deal_columns.ts";
import { arbitraryFaultyQuery } from "./query_fault.ts";
import { arbitraryFaultyUpdate } from "./update_fault.ts";
import { arbitraryQueryBody, arbitraryUpdateBody } from "./valid_body.ts";

describe("a body", () => {
  let service: TestService;
  const at = (operation: string, raw: string) =>
    service.send(
      operation === "query" ? "POST" : "PATCH",
      `/integration/tables/deals/${operation}`,
      { raw },
    );
  beforeAll(async () => {
    service = await createTestService("real");
  });
  afterAll(() => service?.close());

  it("without an error is accepted by Query Records [Q34] [Q76] [Q77]", async () => {
    const law = fc.asyncProperty(arbitraryQueryBody(), async (body) => {
      const response = await at("query", printBody(body));
      assertEquals(response.status, 200, response.text);
      assertEquals(response.body.per_page, Math.min(body.per_page, 200));
    });
    await checkLaw(law, { runs: 400 });
  });

  it("with one error is rejected at its path by Query Records [E17] [E19] [E20] [E21] [E23] [L1] [L3] [L2] [L4] [V1] [V2] [E5]", async () => {
    const law = fc.asyncProperty(arbitraryFaultyQuery(), async ({ body, path }) => {
      assertRejectedAt(await at("query", printBody(body)), path);
    });
    await checkLaw(law, { runs: 2500 });
  });

  it("without an error is accepted by both updates [U1] [U8]", async () => {
    const law = fc.asyncProperty(arbitraryUpdateBody(), async (body) => {
      const raw = printBody(body);
      const single = await at("records/single", raw);
      assert([200, 404, 409].includes(single.status), single.text);
      const bulk = await at("records/bulk", JSON.stringify(body));
      assertEquals(bulk.status, 200, bulk.text);
    });
    await checkLaw(law, { runs: 200 });
  });

  it("with one error is rejected at its path by both updates, and changes nothing [E27] [E28] [U16] [U18] [U4] [U8] [U12] [U13] [U19] [E33]", async () => {
    const before = await dumpDeals(service.database.admin);
    const law = fc.asyncProperty(arbitraryFaultyUpdate(), async ({ body, path }) => {
      assertRejectedAt(await at("records/single", printBody(body)), path);
      assertRejectedAt(await at("records/bulk", printBody(body)), path);
    });
    await checkLaw(law, { runs: 1500 });
    assertEquals(await dumpDeals(service.database.admin), before);
  });
});

function assertRejectedAt(response: ReceivedResponse, path: string): void {
  assertEquals(response.status, 400, response.text);
  assertEquals(Object.keys(response.body).sort(), ["error", "success"]);
  assertEquals(findingsOf(response), [path], response.text);
}
