import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  classify,
  describeFatal,
  makeFailure,
} from "../../../src/database/postgres/database_error.ts";
import type { FailureKind } from "../../../src/database/postgres/failure_kind.ts";
import { SQLSTATES } from "../../support/sqlstates.ts";

const SECRET = "Key (email)=(secret@other.example) already exists";

/** An error of Postgres, as the driver makes it, which leaves the session alive. */
function pretend(code: string, fields: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(SECRET), { code, severity: "ERROR", detail: SECRET, ...fields });
}

/** An error that ends the session. */
const end = (code: string) => pretend(code, { severity: "FATAL" });
/** What a function of the operator raises. */
const raise = (code: string) =>
  pretend(code, { routine: "exec_stmt_raise", where: "PL/pgSQL function f() line 1 at RAISE" });
/** An error of the driver or of the system. */
const breakOff = (code: string) => Object.assign(new Error(SECRET), { code });

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
    ["unavailable", ["25006"]],
    ["exhausted", ["53000", "53100", "53200", "53300"]],
    ["too_complex", ["53400", "54000", "54001", "54023"]],
    ["unfilled", ["55000"]],
    ["failed", ["XX000", "XX001", "58030", "58P01", "F0000"]],
    ["foreign", ["HV000", "HV00L", "HV00R"]],
    ["remote", ["HV00N", "08006", "57P01", "57000", "40003"]],
    ["session", ["26000", "25P02", "42P05"]],
    ["raised", ["20000", "2F005", "38000", "39004", "39P01", "24000", "34000", "ZX001", "ABCDE"]],
    ["stale", ["42702", "42725", "42P08"]],
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

  const endings: readonly (readonly [FailureKind, readonly string[]])[] = [
    ["lost", ["57P01", "57P02", "08006", "08P01", "XX000", "25001"]],
    ["unavailable", ["57P03", "53300", "28P01", "3D000"]],
    ["timeout", ["25P04"]],
    ["session", ["25P03", "57P05"]],
    ["serialization", ["40001"]],
  ];
  for (const [kind, codes] of endings) {
    it(`takes ${codes.join(" ")} that ends the session for ${kind} [P30]`, () => {
      for (const code of codes) {
        const failure = classify(end(code));
        assertEquals([failure.kind, failure.endsSession], [kind, true], code);
      }
    });
  }

  it("takes a code of the system for one only if the system gave it [P30]", () => {
    for (const code of ["CONNECTION_CLOSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"]) {
      assertEquals(classify(breakOff(code)).kind, "lost");
    }
    for (const code of ["ECONNREFUSED", "CONNECT_TIMEOUT", "ENOTFOUND", "EAI_AGAIN"]) {
      assertEquals(classify(breakOff(code)).kind, "unavailable");
    }
    const chosen = classify(raise("EPIPE"));
    assertEquals([chosen.kind, chosen.endsSession], ["raised", false]);
    assertEquals(classify(breakOff("SOMETHING")).kind, "unknown");
  });

  it("knows every code that Postgres can send, and keeps the session unless it was ended [P30]", () => {
    for (const code of SQLSTATES) {
      for (const error of [pretend(code), raise(code)]) {
        const { kind, endsSession } = classify(error);
        assert(kind !== "unknown" && kind !== "lost", `${code} is ${kind}`);
        assertEquals(endsSession, false, code);
      }
      const ended = classify(end(code));
      assert(ended.kind !== "unknown" && ended.endsSession, code);
    }
  });

  it("takes what a function chose to raise for the function's own affair [P30] [E35]", () => {
    const own = ["53100", "53400", "25006", "55000", "57014", "57P01", "08006", "XX000", "HV000"];
    for (const code of [...own, "0A000", "26000", "42501", "42703", "54001"]) {
      assertEquals(classify(raise(code)).kind, "raised", code);
    }
    const kept = ["22023", "23502", "23505", "23514", "40001", "55P03"];
    assertEquals(kept.map((code) => classify(raise(code)).kind), [
      ...["value", "not_null", "conflict", "check", "serialization", "locked"],
    ]);
  });

  it("knows a function from what Postgres says about parameters, in any language [P30]", () => {
    const kindOf = (where: string) => classify(pretend("55000", { where })).kind;
    assertEquals(kindOf("SQL-Funktion »f« Anweisung 1"), "raised");
    assertEquals(kindOf("erweiterte Anfrage mit Parametern: $1 = 'PL', $2 = '\n'"), "unfilled");
    assertEquals(
      kindOf("SQL function \"f\" statement 1\nportal with parameters: $1 = '7'"),
      "raised",
    );
  });

  it("takes any failure before the statement was sent for a database that is not there", () => {
    assertEquals(classify(breakOff("ECONNRESET"), false).kind, "unavailable");
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
      assertEquals(describeFatal(classify(breakOff(code), false)), undefined);
    }
  });
});
