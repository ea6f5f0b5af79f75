import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { DatabaseError, makeFailure } from "../../../src/database/postgres/database_error.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { startTrace } from "../../../src/http/trace.ts";
import { SENDING } from "../../support/sending.ts";
import { readTraceId } from "../../../src/http/trace.ts";

describe("the failure behind a response", () => {
  function fail(error: unknown): readonly Observation[] {
    const request = new Request("http://127.0.0.1/integration/tables");
    const exchange = { request, requestId: "r", corsOrigins: [], headers: {}, sending: SENDING };
    const place = { admit: () => {}, leave: () => {}, claim: () => {}, rest: () => {} };
    const trace = startTrace(exchange, { peer: undefined, traceId: undefined, place });
    trace.operation = "update_single";
    const observed: Observation[] = [];
    trace.reportError(error, (observation) => observed.push(observation));
    return observed;
  }

  it("is reported with the database's code where the status is 500 or above", () => {
    const lost = new DatabaseError(makeFailure("lost", "08006"), { write: false });
    for (const error of [lost, new ApiError(503, "unavailable", { cause: lost })]) {
      assertEquals(fail(error), [
        { kind: "failure", requestId: "r", code: "08006", where: "update_single" },
      ]);
    }
  });

  it("is reported by its name when it is unexpected", () => {
    assertEquals(fail(new TypeError("secret")), [
      { kind: "failure", requestId: "r", code: "TypeError", where: "update_single" },
    ]);
  });

  it("is not reported where the status is 409 or 400", () => {
    assertEquals(fail(new DatabaseError(makeFailure("conflict", "23505"), { write: true })), []);
    const value = new DatabaseError(makeFailure("value", "22P02"), { write: true });
    assertEquals(fail(new ApiError(400, "value", { cause: value })), []);
  });
});

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
