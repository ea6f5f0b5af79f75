import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { buildCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { Introspection } from "../../../src/catalogue/introspection.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { isOpenTo, resolveTable } from "../../../src/catalogue/resolve.ts";
import { tenantFits } from "../../../src/catalogue/tenant_column.ts";
import { NOT_GRANTED } from "./found_schema.ts";
import type { Access } from "../../../src/access/tokens/token.ts";

const INT4 = {
  schema: "pg_catalog",
  name: "int4",
  kind: "b",
  category: "N",
  base: null,
  modifier: -1,
  modified: null,
  notNull: false,
  element: null,
  labels: null,
  equality: true,
  order: true,
  hasDefault: false,
};

const GRANTED = { ...NOT_GRANTED, granted: true };

function column(number: number, name: string, update = true) {
  return {
    number,
    name,
    type: "23",
    modifier: -1,
    modified: null,
    notNull: true,
    generated: false,
    identity: false,
    select: true,
    update,
    deterministic: true,
    comment: null,
    ...{ insert: update, mandatory: true, hasDefault: false },
  };
}

function table(name: string, update = true) {
  const columns = [column(1, "id"), column(2, "tenant_id"), column(3, "value", update)];
  return {
    name,
    schema: "public",
    kind: "r" as const,
    comment: null,
    pinnable: true,
    feed: null,
    hasRewriteRules: false,
    keyIsValid: true,
    hasChildTables: false,
    early: false,
    late: false,
    inserts: update ? GRANTED : NOT_GRANTED,
    deletes: update ? GRANTED : NOT_GRANTED,
    engines: null,
    updatable: true,
    key: [1],
    foreignKeys: [],
    indexes: [],
    unique: [],
    columns,
  };
}

const FOUND: Introspection = {
  usable: ["public"],
  timeZone: "UTC",
  distributes: false,
  tables: [table("deals"), table("archive", false), table("sessions"), table("Api_Tokens")],
  types: { "23": INT4 },
  credentialTables: ["vault"],
};
const { catalogue } = await buildCatalogue(FOUND, {
  schemas: ["public"],
  tenantColumn: "tenant_id",
  policy: { ...EMPTY_POLICY, credentialTables: ["VAULT"] },
});
const ACCESS: Access = {
  tokenId: "id",
  name: null,
  tenant: "1",
  scopes: ["query", "update"],
  tables: null,
  expiresAt: null,
};

function rejectionOf(
  name: string,
  options: Partial<Parameters<typeof resolveTable>[2]> = {},
): ApiError {
  return assertThrows(
    () => resolveTable(catalogue, name, { access: ACCESS, operation: "query", ...options }),
    ApiError,
  );
}

describe("resolving a table", () => {
  it("gives the table of a name, for each operation", () => {
    for (const operation of ["query", "update", "fields"] as const) {
      assertEquals(
        resolveTable(catalogue, "deals", { access: ACCESS, operation }).identifier as string,
        '"public"."deals"',
      );
    }
  });

  it("lets a token create or delete only where the role has the right and the token the scope [A30] [T87]", () => {
    for (const operation of ["create", "delete"] as const) {
      const access: Access = { ...ACCESS, scopes: [operation] };
      assertEquals(resolveTable(catalogue, "deals", { access, operation }).name, "deals");
      assertEquals(rejectionOf("deals", { operation }).status, 403);
      assertEquals(rejectionOf("archive", { access, operation }).status, 403);
    }
  });

  it("responds with 400 at `table` naming a name that cannot be one [E18] [O5]", () => {
    for (const name of ["", "deals;", "a b", "de%61ls", "deals\n", "déals", 'a"b', "a.b"]) {
      const error = rejectionOf(name);
      assertEquals(error.status, 400);
      assertEquals(error.message.startsWith(`table: ${JSON.stringify(name)} `), true);
    }
  });

  it("responds with 403 for credential tables in any case, existing or not [O6] [O7] [AU15]", () => {
    const names = [
      "user_passwords",
      "passwords",
      "password_resets",
      "password_reset_codes",
      "password_reset_tokens",
      "sessions",
      "user_sessions",
      "session_records",
      "impersonations",
      "impersonation_records",
      "user_impersonations",
      "api_tokens",
      "SESSIONS",
      "Api_Tokens",
      "vault",
    ];
    for (const name of names) {
      for (const operation of ["query", "update", "fields"] as const) {
        const error = rejectionOf(name, {
          operation,
          access: { ...ACCESS, tables: [], scopes: [] },
        });
        assertEquals(error.status, 403);
        assertEquals(
          error.message,
          `table: "${name}" is not readable through the integration API`,
        );
      }
    }
  });

  it("responds with 404 and one text for unknown, foreign and unlisted tables [O8] [O9]", () => {
    const unlisted = rejectionOf("deals", { access: { ...ACCESS, tables: ["Deals"] } });
    const unfit = rejectionOf("deals", { access: { ...ACCESS, tenant: "one" } });
    for (const error of [unlisted, unfit]) {
      assertEquals([error.status, error.message], [404, 'table: "deals" was not found']);
      assertEquals(error.stale, true);
    }
    for (const name of ["constructor", "__proto__", "toString", "Deals", "x".repeat(80)]) {
      const error = rejectionOf(name);
      assertEquals([error.status, error.message], [404, `table: "${name}" was not found`]);
      assertEquals(error.stale, true);
    }
  });

  it("responds with 404 before 403, so that a scope reveals nothing of tables [O9]", () => {
    const access: Access = { ...ACCESS, scopes: ["update"], tables: ["archive"] };
    assertEquals(rejectionOf("deals", { access }).status, 404);
    assertEquals(rejectionOf("archive", { access }).status, 403);
  });

  it("responds with 403 for an operation that the token does not grant [O10]", () => {
    for (const [operation, scopes] of [["query", ["update"]], ["update", ["query"]]] as const) {
      const error = rejectionOf("deals", { operation, access: { ...ACCESS, scopes } });
      assertEquals(error.status, 403);
      assertEquals(error.message, `The token does not grant the operation "${operation}"`);
    }
    const access: Access = { ...ACCESS, scopes: [] };
    resolveTable(catalogue, "deals", { access, operation: "fields" });
  });

  it("responds with 403 for an update of a table without a column to set", () => {
    assertEquals(rejectionOf("archive", { operation: "update" }).status, 403);
    resolveTable(catalogue, "archive", { access: ACCESS, operation: "query" });
  });

  it("opens to a token only the tables that it may know of [O9]", () => {
    const deals = catalogue.tables.get("deals")!;
    assertEquals(isOpenTo(deals, ACCESS), true);
    assertEquals(isOpenTo(deals, { ...ACCESS, tables: ["deals"] }), true);
    assertEquals(isOpenTo(deals, { ...ACCESS, tables: [] }), false);
    assertEquals(isOpenTo(deals, { ...ACCESS, tenant: "x" }), false);
    assertEquals(isOpenTo({ ...deals, tenancy: undefined }, { ...ACCESS, tenant: "x" }), true);
  });
});

describe("a tenant and its column's type", () => {
  it("fit only where the cast cannot fail", () => {
    const cases = [
      ["int2", ["0", "32767", "-32768", "007"], ["32768", "-32769", "", " 1", "1.0", "1e3", "+1"]],
      ["int4", ["2147483647"], ["2147483648", "one", "0x10", "1_000"]],
      ["int8", ["9223372036854775807", "-9223372036854775808"], ["9223372036854775808"]],
      [
        "uuid",
        ["11111111-1111-4111-8111-111111111111", "AAAAAAAA-1111-4111-8111-111111111111"],
        ["1", "11111111111141118111111111111111", "11111111-1111-4111-8111-11111111111g"],
      ],
      ["text", ["", "acme", "1", "ä 🚀"], ["a\0b"]],
    ] as const;
    for (const [kind, fitting, unfit] of cases) {
      for (const tenant of fitting) {
        assertEquals(tenantFits(tenant, kind), true, `${kind} ${tenant}`);
      }
      for (const tenant of unfit) {
        assertEquals(tenantFits(tenant, kind), false, `${kind} ${tenant}`);
      }
    }
  });
});
