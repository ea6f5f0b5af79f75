import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { classify, describeFatal, makeFailure } from "../../../src/postgres/database_error.ts";
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

  it("tells a row that is refused as it was written from a missing right and a trigger's error [T80]", () => {
    const refused = { routine: "ExecWithCheckOptions" };
    assertEquals(classify(pretend("42501", refused)).kind, "outside");
    assertEquals(classify(pretend("42501", { routine: "aclcheck_error" })).kind, "permission");
    assertEquals(classify(pretend("2203C")).kind, "outside");
    const where = "PL/pgSQL function note() line 1 at SQL statement";
    assertEquals(classify(pretend("42501", { ...refused, where })).kind, "permission");
    assertEquals(classify(pretend("2203C", { where })).kind, "value");
  });

  it("takes any failure before the statement was sent for a database that is not there", () => {
    assertEquals(classify(pretend("ECONNRESET"), false).kind, "unavailable");
    assertEquals(classify(pretend("XX000"), false).kind, "unavailable");
  });

  it("takes what is no error of the driver for unknown", () => {
    for (const thrown of [undefined, null, "text", 7, {}, Object.freeze(new Error("x"))]) {
      assertEquals(classify(thrown), makeFailure("unknown", "UNKNOWN"));
    }
  });

  it("keeps names only where a response may need them [P31]", () => {
    const fields = { constraint_name: "c", column_name: "n" };
    assertEquals(classify(pretend("23514", fields)).constraint, "c");
    assertEquals(classify(pretend("23505", fields)).constraint, "c");
    assertEquals(classify(pretend("23502", fields)).constraint, undefined);
    assertEquals(classify(pretend("23502", fields)).column, "n");
    assertEquals(classify(pretend("P0001")).raised, SECRET);
    assertEquals(classify(pretend("22P02")).raised, undefined);
  });
});

describe("describeFatal", () => {
  it("ends the start on a wrong password or database name [R36] [R37]", () => {
    for (const code of ["28P01", "28000", "3D000"]) {
      assertStringIncludes(describeFatal(classify(pretend(code), false)) ?? "", "DATABASE_URL");
    }
  });

  it("waits for a database that is unavailable, starting or full [R35]", () => {
    for (const code of ["ECONNREFUSED", "57P03", "53300", "ENOTFOUND", "CONNECT_TIMEOUT"]) {
      assertEquals(describeFatal(classify(pretend(code), false)), undefined);
    }
  });
});
