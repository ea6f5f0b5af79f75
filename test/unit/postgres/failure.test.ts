import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { describeFatal } from "../../../src/postgres/fatal.ts";
import { classify, DEADLINE, fail, toApiError } from "../../../src/postgres/failure.ts";
import type { FailureKind } from "../../../src/postgres/failure_kind.ts";

const SECRET = "Key (email)=(secret@other.example) already exists";

/** An error as the driver makes it. */
function pretend(code: string, fields: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(SECRET), { code, detail: SECRET, ...fields });
}

describe("classify", () => {
  const kinds: readonly (readonly [FailureKind, readonly string[]])[] = [
    ["value", ["22P02", "22003", "22007", "22008", "22021", "22P05", "22025", "22001"]],
    ["not_null", ["23502"]],
    ["check", ["23514", "44000"]],
    ["conflict", ["23505", "23503", "23P01", "23001"]],
    ["raised", ["P0001", "P0002"]],
    ["stale", ["42703", "42P01", "42883", "42804", "42P18", "0A000", "428C9"]],
    ["permission", ["42501"]],
    ["serialization", ["40001", "40P01"]],
    ["locked", ["55P03"]],
    ["timeout", ["57014"]],
    ["unavailable", ["25006", "57P03", "53300", "53100", "53200", "28P01", "3D000"]],
    ["unavailable", ["ECONNREFUSED", "CONNECT_TIMEOUT", "ENOTFOUND", "EAI_AGAIN"]],
    ["lost", ["57P01", "57P02", "08006", "CONNECTION_CLOSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"]],
    ["too_complex", ["54000", "54001", "54023"]],
    ["unknown", ["XX000", "25P01", "39000", "SOMETHING"]],
  ];
  for (const [kind, codes] of kinds) {
    it(`takes ${codes.join(" ")} for ${kind} [P30]`, () => {
      for (const code of codes) assertEquals(classify(pretend(code)).kind, kind, code);
    });
  }

  it("takes any failure before the statement was sent for a database that is not there", () => {
    assertEquals(classify(pretend("ECONNRESET"), false).kind, "unavailable");
    assertEquals(classify(pretend("XX000"), false).kind, "unavailable");
  });

  it("takes what is no error of the driver for unknown", () => {
    for (const thrown of [undefined, null, "text", 7, {}, Object.freeze(new Error("x"))]) {
      assertEquals(classify(thrown), fail("unknown", "UNKNOWN"));
    }
  });

  it("keeps names only where an answer may need them [P31]", () => {
    const fields = { constraint_name: "c", column_name: "n" };
    assertEquals(classify(pretend("23514", fields)).constraint, "c");
    assertEquals(classify(pretend("23505", fields)).constraint, undefined);
    assertEquals(classify(pretend("23502", fields)).column, "n");
    assertEquals(classify(pretend("P0001")).message, SECRET);
    assertEquals(classify(pretend("22P02")).message, undefined);
  });
});

describe("toApiError", () => {
  const answers: readonly (readonly [string, number, boolean])[] = [
    ["22P02", 400, false],
    ["23502", 400, false],
    ["23514", 400, false],
    ["23505", 409, false],
    ["42501", 403, false],
    ["42703", 500, false],
    ["40001", 503, true],
    ["40P01", 503, true],
    ["55P03", 503, true],
    ["57014", 504, false],
    ["53300", 503, true],
    ["25006", 503, true],
    ["CONNECTION_CLOSED", 503, true],
    ["54001", 400, false],
    ["XX000", 500, false],
  ];
  for (const [code, status, retry] of answers) {
    it(`answers ${code} with ${status}${retry ? " and Retry-After" : ""} [E41] [E38] [E39] [E40]`, () => {
      for (const write of [true, false]) {
        const error = toApiError(classify(pretend(code)), { write });
        assertEquals(error.status, status);
        assertEquals("Retry-After" in error.headers, retry);
        assertEquals(error.matched, undefined);
      }
    });
  }

  it("shows no text of Postgres, except of a trigger's RAISE [E44] [E34] [P30]", () => {
    for (const [code] of answers) {
      const error = toApiError(classify(pretend(code)), { write: true });
      assertEquals(error.message.includes("secret"), false, code);
      assertEquals(error.message.includes(code), false, code);
    }
    const raised = toApiError(classify(pretend("P0001")), { write: true });
    assertEquals([raised.status, raised.message], [400, SECRET]);
  });

  it("shows what a trigger said, not what PL/pgSQL says for it [E34] [E44]", () => {
    for (const code of ["P0002", "P0003", "P0004"]) {
      const routines = ["exec_stmt_execsql", "exec_stmt_raise"].map((routine) =>
        toApiError(classify(pretend(code, { routine })), { write: true }).message
      );
      assertEquals(routines, ["The database refused the change", SECRET]);
    }
  });

  it("shows nothing of what a function raised over the rows of a query [E44]", () => {
    const error = toApiError(classify(pretend("P0001")), { write: false });
    assertEquals([error.status, error.message], [400, "The database refused the query"]);
  });

  it("has one text for unique, foreign key and exclusion violations [E31]", () => {
    const texts = ["23505", "23503", "23P01"].map((code) =>
      toApiError(classify(pretend(code)), { write: true }).message
    );
    assertEquals(new Set(texts).size, 1);
  });

  it("names the constraint of a check violation [E32]", () => {
    const error = toApiError(classify(pretend("23514", { constraint_name: "ck" })), {
      write: true,
    });
    assertStringIncludes(error.message, '"ck"');
  });

  it("says that nothing was changed only where that is certain [E42] [E39] [E40]", () => {
    const message = (code: string, write: boolean) =>
      toApiError(classify(pretend(code)), { write }).message;
    for (const code of ["55P03", "57014", "40001", "ECONNREFUSED"]) {
      assertStringIncludes(message(code, true), "nothing was changed");
    }
    const lost = [
      message("ECONNRESET", true),
      toApiError(fail("timeout", DEADLINE), { write: true }).message,
    ];
    for (const text of lost) {
      assertStringIncludes(text, "outcome is unknown");
      assertStringIncludes(text, "repeating the request is safe");
    }
    assertEquals(message("ECONNRESET", false).includes("outcome"), false);
  });

  it("marks what a fresh catalogue may cure, and carries the failure [T40]", () => {
    const failure = classify(pretend("42703"));
    const error = toApiError(failure, { write: false });
    assertEquals([error.stale, error.cause], [true, failure]);
    assertEquals(toApiError(classify(pretend("22P02")), { write: false }).stale, false);
  });
});

describe("describeFatal", () => {
  it("ends the start on a wrong password or database name [R36] [R37]", () => {
    for (const code of ["28P01", "28000", "3D000"]) {
      assertStringIncludes(describeFatal(classify(pretend(code), false)) ?? "", "DATABASE_URL");
    }
  });

  it("waits for a database that is away, starting or full [R35]", () => {
    for (const code of ["ECONNREFUSED", "57P03", "53300", "ENOTFOUND", "CONNECT_TIMEOUT"]) {
      assertEquals(describeFatal(classify(pretend(code), false)), undefined);
    }
  });
});
