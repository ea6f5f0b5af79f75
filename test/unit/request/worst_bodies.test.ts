import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serveWorstBody } from "../../support/serve_worst_body.ts";
import { BODY_BYTES, WORST_BODIES } from "../../support/worst_bodies.ts";

describe("A body of 1 MiB", () => {
  // Without a limit of time: work in quadratic time would take hours.
  for (const body of WORST_BODIES) {
    it(`is planned or rejected when made of ${body.name} [FS10] [RE18] [RE27]`, async () => {
      const bytes = new TextEncoder().encode(body.make(BODY_BYTES));
      assert(bytes.length <= BODY_BYTES, `${bytes.length} bytes`);
      const response = await serveWorstBody(body, bytes);
      assert(response.length < 3000, response);
      if (body.operation === "query") return;
      assertEquals(response, await serveWorstBody(body, bytes, { whole: true }));
    });
  }
});
