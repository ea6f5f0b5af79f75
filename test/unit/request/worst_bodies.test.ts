import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serveWorstBody } from "../../support/serve_worst_body.ts";
import { BODY_BYTES, WORST_BODIES } from "../../support/worst_bodies.ts";

describe("A body of 1 MiB", () => {
  // Not timed: scripts/bench/worst_bodies.ts measures. But what goes through a body more than once for
  // each of its parts would not end today.
  for (const body of WORST_BODIES) {
    it(`is planned or refused when made of ${body.name} [FS10] [RE18] [RE27]`, async () => {
      const bytes = new TextEncoder().encode(body.make(BODY_BYTES));
      assert(bytes.length <= BODY_BYTES, `${bytes.length} bytes`);
      const answer = await serveWorstBody(body, bytes);
      assert(answer.length < 3000, answer);
      assertEquals(answer, await serveWorstBody(body, bytes, { whole: true }));
    });
  }
});
