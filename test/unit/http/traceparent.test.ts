import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readTraceId } from "../../../src/http/traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

function read(traceparent?: string): string | undefined {
  const headers = new Headers(traceparent === undefined ? {} : { traceparent });
  return readTraceId(new Request("http://127.0.0.1/", { headers }));
}

describe("readTraceId", () => {
  it("gives the trace id of a well-formed one", () => {
    assertEquals(read(`00-${TRACE}-${PARENT}-01`), TRACE);
    assertEquals(read(`00-${TRACE}-${PARENT}-00`), TRACE);
    assertEquals(read(`cc-${TRACE}-${PARENT}-01`), TRACE);
    assertEquals(read(`cc-${TRACE}-${PARENT}-01-what-the-future-brings`), TRACE);
  });

  for (
    const text of [
      undefined,
      "",
      "x",
      TRACE,
      `ff-${TRACE}-${PARENT}-01`,
      `00-${"0".repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01-more`,
      `cc-${TRACE}-${PARENT}-01more`,
      `00-${TRACE.slice(1)}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-1`,
      `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    ]
  ) {
    it(`gives none for ${JSON.stringify(text)}`, () => {
      assertEquals(read(text), undefined);
    });
  }
});
