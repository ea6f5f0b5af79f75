import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ApiError } from "../../../src/basics/errors/api_error.ts";
import { toApiError } from "../../../src/records/database_status.ts";
import {
  classify,
  DatabaseError,
  type Failure,
  makeFailure,
} from "../../../src/database/postgres/database_error.ts";
import {
  DEADLINE,
  POOL_WAIT,
  TRANSACTION_TIMEOUT,
} from "../../../src/database/postgres/failure_kind.ts";
import { SQLSTATES } from "../../support/sqlstates.ts";

const SECRET = "Key (email)=(secret@other.example) already exists";

/** An error of Postgres, as the driver makes it; one of the system where the code is no SQLSTATE. */
function pretend(code: string, fields: Record<string, unknown> = {}): Error {
  const severity = /^\w{5}$/.test(code) ? { severity: "ERROR" } : {};
  return Object.assign(new Error(SECRET), { code, detail: SECRET, ...severity, ...fields });
}

function respond(failure: Failure, options: { write: boolean }): ApiError {
  return toApiError(new DatabaseError(failure, options));
}

describe("toApiError", () => {
  /** Status of a write and of a read, and whether repeating may help. */
  const responses: readonly (readonly [string, number, number, boolean])[] = [
    ["22P02", 400, 400, false],
    ["23502", 400, 400, false],
    ["23514", 400, 400, false],
    ["23505", 409, 400, false],
    ["42501", 403, 403, false],
    ["2203C", 409, 400, false],
    ["42703", 503, 503, true],
    ["40001", 503, 503, true],
    ["40P01", 503, 503, true],
    ["55P03", 503, 503, true],
    ["57014", 504, 504, false],
    ["53100", 503, 503, true],
    ["53200", 503, 503, true],
    ["53400", 400, 400, false],
    ["25006", 503, 503, true],
    ["CONNECTION_CLOSED", 503, 503, true],
    ["54001", 400, 400, false],
    ["20000", 400, 400, false],
    ["38000", 400, 400, false],
    ["XX000", 503, 503, false],
    ["58030", 503, 503, false],
    ["HV00L", 503, 503, false],
    ["HV00N", 503, 503, true],
    ["08006", 503, 503, true],
    ["26000", 503, 503, true],
  ];
  for (const [code, ofWrite, ofRead, mayHelp] of responses) {
    it(`responds to ${code} with ${ofWrite}${mayHelp ? " and Retry-After" : ""} [E41] [E38] [E39] [E40] [E49]`, () => {
      for (const write of [true, false]) {
        const error = respond(classify(pretend(code)), { write });
        assertEquals(error.status, write ? ofWrite : ofRead);
        assertEquals("Retry-After" in error.headers, mayHelp);
        assertEquals(error.matched, undefined);
      }
    });
  }

  it("says of a table that has no data yet or takes no updates just that [E50]", () => {
    const read = respond(classify(pretend("55000")), { write: false });
    assertEquals([read.status, read.headers], [503, {}]);
    assertStringIncludes(read.message, "materialized view must be filled");
    assertEquals(respond(classify(pretend("55000")), { write: true }).status, 403);
  });

  it("responds to no code of Postgres with a 500 or with its text, whatever raised it [E49] [E44]", () => {
    const raised = { routine: "exec_stmt_raise", where: "PL/pgSQL function f() line 1 at RAISE" };
    for (const code of SQLSTATES) {
      for (const fields of [{}, raised, { severity: "FATAL" }]) {
        for (const write of [true, false]) {
          const { status, message } = respond(classify(pretend(code, fields)), { write });
          assert([400, 403, 409, 503, 504].includes(status), `${code}: ${status}`);
          const isShown = write && code.startsWith("P0") && !("severity" in fields);
          if (!isShown) assert(!message.includes("secret"), `${code}: ${message}`);
        }
      }
    }
  });

  it("says that the database is away only where it is [E51]", () => {
    const isAway = (code: string, fields = {}) =>
      respond(classify(pretend(code, fields)), { write: true }).message
        .startsWith("The database is not available");
    assertEquals(SQLSTATES.filter((code) => isAway(code)), []);
    assertEquals(["ECONNREFUSED", "CONNECT_TIMEOUT"].every((code) => isAway(code)), true);
    assertEquals(SQLSTATES.filter((code) => isAway(code, { severity: "FATAL" })), [
      ...["28000", "28P01", "3D000", "53000", "53100", "53200", "53300", "53400", "57P03"],
    ]);
  });

  it("shows no text of Postgres, except of a trigger's RAISE [E44] [E34] [P30]", () => {
    for (const [code] of responses) {
      const error = respond(classify(pretend(code)), { write: true });
      assertEquals(error.message.includes("secret"), false, code);
      assertEquals(error.message.includes(code), false, code);
    }
    const raised = respond(classify(pretend("P0001")), { write: true });
    assertEquals([raised.status, raised.message], [400, SECRET]);
  });

  it("shows what a trigger said, not what PL/pgSQL says for it [E34] [E44]", () => {
    for (const code of ["P0002", "P0003", "P0004"]) {
      const routines = ["exec_stmt_execsql", "exec_stmt_raise"].map((routine) =>
        respond(classify(pretend(code, { routine })), { write: true }).message
      );
      assertEquals(routines, ["The database refused the change", SECRET]);
    }
  });

  it("shows nothing of what a function raised over the rows of a query [E44]", () => {
    const error = respond(classify(pretend("P0001")), { write: false });
    assertEquals([error.status, error.message], [400, "The database refused the query"]);
  });

  it("says whether a unique key, a foreign key or an exclusion is broken, no more [E31]", () => {
    const texts = ["23505", "23503", "23P01", "23000"].map((code) =>
      respond(classify(pretend(code, { constraint_name: "secret_key" })), { write: true }).message
    );
    const conflict = "The new values conflict with existing data";
    assertEquals(texts, [
      `${conflict}: they break a unique key`,
      `${conflict}: they break a foreign key`,
      `${conflict}: they break an exclusion constraint`,
      conflict,
    ]);
  });

  it("does not name the constraint of a check violation by itself [E32]", () => {
    const error = respond(classify(pretend("23514", { constraint_name: "ck" })), {
      write: true,
    });
    assertEquals(error.message, "The new values break a check constraint");
  });

  it("says which limit was met, a transaction's or that of waiting [R13] [L15]", () => {
    const texts = [
      makeFailure("timeout", TRANSACTION_TIMEOUT),
      makeFailure("unavailable", POOL_WAIT),
    ].map((failure) => respond(failure, { write: true }).message);
    assertEquals(texts, [
      "The transaction took too long; nothing was changed",
      "The service is busy, no connection to the database became free; nothing was changed",
    ]);
  });

  it("says that nothing was changed only where that is certain [E42] [E39] [E40]", () => {
    const message = (code: string, write: boolean) =>
      respond(classify(pretend(code)), { write }).message;
    for (const code of ["55P03", "57014", "40001", "ECONNREFUSED"]) {
      assertStringIncludes(message(code, true), "nothing was changed");
    }
    const lost = [
      message("ECONNRESET", true),
      respond(makeFailure("timeout", DEADLINE), { write: true }).message,
    ];
    for (const text of lost) {
      assertStringIncludes(text, "outcome is unknown");
      assertStringIncludes(text, "repeating the request is safe");
    }
    assertEquals(message("ECONNRESET", false).includes("outcome"), false);
  });

  it("carries the database's error, for the log", () => {
    const error = new DatabaseError(classify(pretend("42703")), { write: false });
    assertEquals(toApiError(error).cause, error);
  });
});
