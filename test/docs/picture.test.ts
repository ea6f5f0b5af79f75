// docs/images/request.svg shows the steps that ARCHITECTURE.md lists, each with statuses that the order of checks has.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readDocument } from "./blocks.ts";

describe("the picture of a request's way", () => {
  it("has the steps of the architecture, and statuses of the order of checks", async () => {
    const picture = await readDocument("docs/images/request.svg");
    const steps = [...picture.matchAll(/<text class="step"[^>]*>(\w+)</g)].map(([, name]) => name);
    const architecture = await readDocument("ARCHITECTURE.md");
    const listed = [...architecture.matchAll(/^ {2}│ {2}(\w+) {3}/gm)].map(([, name]) => name);
    assertEquals(steps, listed);
    const order = await readDocument("docs/specification/order-of-checks.md");
    const ends = [...picture.matchAll(/<text class="end"[^>]*>([^<]+)</g)];
    assertEquals(ends.length, steps.length);
    for (const [, text] of ends) {
      for (const [status] of text!.matchAll(/\d{3}/g)) {
        assert(status === "200" || order.includes(status), status);
      }
    }
  });
});
