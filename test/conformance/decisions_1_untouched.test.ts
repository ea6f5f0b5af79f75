import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { Answer } from "../support/service.ts";
import { assertOk, assertRefused } from "./assert_answer.ts";
import { describeService, type SendOptions } from "./describe_service.ts";

/** Requests that one of the steps 1 to 7 refuses, with the status. */
const REFUSED: readonly [string, number, unknown, SendOptions][] = [
  ["no token", 401, {}, { token: null }],
  ["no JSON", 400, undefined, { raw: "{" }],
  ["another media type", 415, undefined, { raw: "{}", headers: { "content-type": "text/plain" } }],
  ["a body too large", 413, undefined, { raw: `{${" ".repeat(2_000_000)}}` }],
  ["a wrong shape", 400, { filters: 1, fields: 1 }, {}],
  ["an unknown column", 400, { filters: { nope: 1 }, fields: { note: "x" } }, {}],
  ["a wrong value", 400, { filters: { fid: "x" }, fields: { note: "x" } }, {}],
  ["a preference", 400, {}, { headers: { prefer: "handling=strict, nonsense" } }],
];
const QUERIES = [
  { filters: { and: [{ field: "nope", op: "eq", value: 1 }] } },
  { filters: { and: [{ field: "fid", op: "eq", value: 1.5 }] } },
  { select: ["nope"] },
  { sort: [{ field: "data", direction: "up" }] },
];

describeService("DECISIONS 1, before the database", (conversation) => {
  const { kind, query, single, bulk, service } = conversation;
  // Only a session of its own can hold the table.
  if (kind === "embedded") return;

  it("reads and writes nothing of the table before all that can be refused is refused [D1.nothing-touched]", async () => {
    assertOk(await query("deals", { per_page: 1 }));
    await service().database.admin.begin(async (transaction) => {
      // Whoever touched the table now would wait, and answer 503 in the end.
      await transaction`lock table deals in access exclusive mode`;
      for (const [name, status, body, options] of REFUSED) {
        for (const update of [single, bulk]) {
          assertEquals((await update("deals", body, options)).status, status, name);
        }
      }
      for (const body of QUERIES) assertRefused(await query("deals", body), 400);
      const touched: Answer = await query("deals", { per_page: 1 });
      assertRefused(touched, 503);
    });
    assertOk(await query("deals", { per_page: 1 }));
  });
}, { environment: { ROWGATE_LOCK_TIMEOUT_MS: "200" } });
