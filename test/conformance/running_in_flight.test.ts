import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { readMetrics } from "../support/read_metrics.ts";
import { assertOk, assertRejected } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** A busy machine may send the requests of a round one after the other. */
const MOST_ROUNDS = 20;

describeService("Running, requests at once", ({ query, get }) => {
  /** Sends twelve requests at once, again until more of them than allowed arrive at once. */
  async function crowd() {
    for (let round = 1;; round++) {
      const responses = await Promise.all(Array.from({ length: 12 }, () => query("guests")));
      const isRejected = responses.some(({ status }) => status !== 200);
      if (isRejected || round === MOST_ROUNDS) return responses;
    }
  }

  it("responds with 503 and Retry-After to more than ROWGATE_MAX_IN_FLIGHT at once [R19]", async () => {
    const responses = await crowd();
    const rejected = responses.filter(({ status }) => status !== 200);
    // All that were let in get a response; how many that was depends on when they arrived.
    assert(rejected.length > 0 && rejected.length <= 9, String(rejected.length));
    for (const response of rejected) {
      assertRejected(response, 503);
      assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
    }
    assertEquals(assertOk(await query("guests"))["total"], 5);
  });

  it("shows that it is full [H15]", async () => {
    const asked = crowd();
    const watched = await Promise.all(
      Array.from({ length: 6 }, () => get("/metrics", { token: null })),
    );
    for (const { status } of watched) assertEquals(status, 200);
    assert((await asked).some(({ status }) => status === 503));
    const { samples } = readMetrics((await get("/metrics")).text);
    // Of those whose tenant was known by then the operation is, too.
    const full = ["none", "query_records"].map((operation) =>
      samples.get(`rowgate_requests_total{operation="${operation}",status="503"}`) ?? 0
    );
    assert(Math.max(...full) >= 1, String(full));
  });
}, { environment: { ROWGATE_MAX_IN_FLIGHT: "3" } });
