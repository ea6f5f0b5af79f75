import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

describeService("Running, requests at once", ({ query }) => {
  it("responds with 503 and Retry-After to more than ROWGATE_MAX_IN_FLIGHT at once [R19]", async () => {
    const responses = await Promise.all(Array.from({ length: 12 }, () => query("guests")));
    const rejected = responses.filter(({ status }) => status !== 200);
    // All that were let in get a response; how many that was depends on when they arrived.
    assert(rejected.length > 0 && rejected.length <= 9, String(rejected.length));
    for (const response of rejected) {
      assertRejected(response, 503);
      assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
    }
    assertEquals(assertOk(await query("guests"))["total"], 5);
  });
}, { environment: { ROWGATE_MAX_IN_FLIGHT: "3" } });
