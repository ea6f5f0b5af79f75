import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { createTestService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";
import { dumpDeals, findingsOf } from "./findings_of.ts";
import { mutateQuery } from "./mutate_query.ts";
import { mutateUpdate } from "./mutate_update.ts";
import type { Mutation } from "./mutation.ts";
import { arbitraryQueryBody, arbitraryUpdateBody } from "./valid_body.ts";

describe("Each part of a valid body, made invalid,", () => {
  let service: TestService;
  let slowest = { ms: 0, how: "" };
  const durations: number[] = [];
  beforeAll(async () => {
    service = await createTestService("real");
    // The first request waits for the catalogue, the token and the compiler.
    const raw = '{"select":["nothing"]}';
    for (let count = 0; count < 20; count++) {
      await service.send("POST", "/integration/tables/deals/query", { raw });
    }
  });
  afterAll(async () => {
    const most = durations.toSorted((a, b) => a - b)[Math.floor(durations.length * 0.999)] ?? 0;
    console.info(
      `    ${durations.length} bodies, 99.9 % rejected within ${
        most.toFixed(1)
      } ms, the slowest in ` +
        `${slowest.ms.toFixed(1)} ms: ${slowest.how}`,
    );
    await service?.close();
  });

  async function assertRejected(operation: string, { how, raw, paths }: Mutation): Promise<void> {
    const method = operation === "query" ? "POST" : "PATCH";
    const start = performance.now();
    const response = await service.send(method, `/integration/tables/deals/${operation}`, { raw });
    const ms = performance.now() - start;
    durations.push(ms);
    if (ms > slowest.ms) slowest = { ms, how: `${operation}, ${how}` };
    assertEquals(response.status, 400, `${how}: ${raw} ${response.text}`);
    assertEquals(findingsOf(response), paths, `${how}: ${raw} ${response.text}`);
  }

  it("is rejected at exactly its path by Query Records [E5] [E17]", async () => {
    const law = fc.asyncProperty(arbitraryQueryBody(), async (body) => {
      const mutations = mutateQuery(body);
      assert(mutations.length > 20);
      for (const mutation of mutations) await assertRejected("query", mutation);
    });
    await checkLaw(law, { runs: 25 });
  });

  it("is rejected at exactly its path by both updates, and nothing is changed [U19]", async () => {
    const before = await dumpDeals(service.database.admin);
    const law = fc.asyncProperty(arbitraryUpdateBody(), async (body) => {
      for (const mutation of mutateUpdate(body)) {
        await assertRejected("records/single", mutation);
        await assertRejected("records/bulk", mutation);
      }
    });
    await checkLaw(law, { runs: 25 });
    assertEquals(await dumpDeals(service.database.admin), before);
  });
});
