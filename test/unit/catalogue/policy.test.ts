import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  parsePolicy,
  type Policy,
  POLICY_SCHEMA,
  TABLE_POLICY_SCHEMA,
} from "../../../src/catalogue/policy.ts";

function accept(document: unknown): Policy {
  const parsed = parsePolicy(JSON.stringify(document));
  if ("problems" in parsed) throw new Error(parsed.problems.join("; "));
  return parsed.policy;
}

function reject(document: unknown): readonly string[] {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  const parsed = parsePolicy(text);
  assert("problems" in parsed, `accepted ${text}`);
  return parsed.problems;
}

describe("the policy file", () => {
  it("accepts an empty object as no policy", () => {
    assertEquals(accept({}), {
      tables: new Map(),
      credentialTables: [],
      acceptedFindings: new Map(),
    });
  });

  it("reads every member of a table", () => {
    const policy = accept({
      "$schema": "policy.schema.json",
      tables: {
        deals: {
          tenant_column: "org-id",
          hidden_columns: ["secret"],
          read_only_columns: ["note"],
          cross_tenant_columns: ["owner"],
          read_only: true,
          delete: false,
          soft_delete: "removed_at",
        },
        countries: { shared: true },
        open_deals: { expose: true, primary_key: ["fid"] },
      },
      credential_tables: ["Vault"],
    });
    assertEquals(policy.credentialTables, ["Vault"]);
    assertEquals(policy.tables.get("deals"), {
      tenantColumns: ["org-id"],
      tenantVia: undefined,
      name: undefined,
      columnNames: new Map(),
      writable: false,
      softDelete: "removed_at",
      only: undefined,
      shared: false,
      expose: false,
      primaryKey: [],
      hiddenColumns: new Set(["secret"]),
      readOnly: true,
      create: true,
      delete: false,
      readOnlyColumns: new Set(["note"]),
      crossTenantColumns: new Set(["owner"]),
    });
    assertEquals(policy.tables.get("countries")?.shared, true);
    assertEquals(policy.tables.get("open_deals")?.primaryKey, ["fid"]);
  });

  it("keeps tables that are named like members of objects [J1]", () => {
    const parsed = parsePolicy(
      '{"tables": {"__proto__": {"read_only": true}, "constructor": {"shared": true}}}',
    );
    assert("policy" in parsed);
    assertEquals(parsed.policy.tables.get("__proto__")?.readOnly, true);
    assertEquals(parsed.policy.tables.get("constructor")?.shared, true);
  });

  it("reports every problem at once, each with its path [T10] [R7]", () => {
    const problems = reject({
      table: {},
      credential_tables: ["ok", "no good", 7],
      accepted_findings: [{ id: "clock", reason: " " }, { reason: "known" }],
      tables: {
        deals: {
          hidden: ["a"],
          only: "a is null",
          read_only: "yes",
          hidden_columns: "a",
          soft_delete: "",
        },
        looked_up: { shared: true, soft_delete: "gone" },
        "bad name": {},
        notes: [],
        both: { shared: true, tenant_column: "x" },
        lines: { tenant_via: { columns: [], table: "orders", on: "x" } },
        sites: { hiden_columns: [] },
        steps: { tenant_via: { column: "a", table: "orders" } },
        parts: { tenant_via: { columns: ["a"], table: "lines" }, tenant_column: "b" },
        shop: { tenant_columns: ["a"] },
        till: { tenant_columns: ["a", "b"], shared: true },
        sum: { tenant_via: { columns: ["a"], table: "lines" }, expose: true },
      },
    });
    for (
      const [beginning, part] of [
        ["table: ", "is not known here"],
        ["credential_tables.1: ", "letters, digits and underscores"],
        ["credential_tables.2: ", "letters, digits and underscores"],
        ["tables.deals.hidden: ", "is not known here"],
        ["tables.sites.hiden_columns: ", 'is not known here, did you mean "hidden_columns"'],
        ["tables.deals.only: ", 'expected a filter group, such as {"and":['],
        ["tables.steps.tenant_via.column: ", 'is not known here, did you mean "columns"'],
        ["tables.steps.tenant_via.columns: ", "is missing"],
        ["tables.deals.read_only: ", "true or false"],
        ["tables.deals.hidden_columns: ", "array of names"],
        ["tables.deals.soft_delete: ", "the name of a column"],
        ["tables.looked_up.soft_delete: ", "is not for a shared table"],
        ["tables.bad name: ", "letters, digits and underscores"],
        ["tables.notes: ", "an object"],
        ["tables.lines.tenant_via.columns: ", "the columns of a foreign key"],
        ["tables.lines.tenant_via.on: ", "is not known here"],
        ["tables.parts: ", '"tenant_via" and "tenant_column" cannot be combined'],
        ["tables.shop.tenant_columns: ", "two or more columns"],
        ["tables.till: ", '"tenant_columns" and "shared" cannot be combined'],
        ["tables.sum: ", "needs a foreign key"],
        ["accepted_findings.0.reason: ", "a text"],
        ["accepted_findings.1.id: ", "is missing"],
        ["tables.both: ", '"shared" is for a table without a tenant column'],
      ] as const
    ) {
      const found = problems.filter((problem) =>
        problem.startsWith(beginning) && problem.includes(part)
      );
      assertEquals(found.length, 1, `${beginning} in ${JSON.stringify(problems)}`);
    }
    assertEquals(problems.length, 23);
  });

  it("rejects what is not a JSON object", () => {
    assertEquals(reject("{"), [
      "the policy file: the JSON ends too early, at line 1, column 2, expected a key in double quotes",
    ]);
    assertEquals(reject('{\n  "tables": {},\n}').length, 1);
    assertMatch(
      reject('{\n  "tables": {},\n}')[0]!,
      /not valid JSON at line 3, column 1, expected/,
    );
    for (const document of [[], "text", 1, null]) {
      assertEquals(reject(JSON.stringify(document)), ["the policy file must hold a JSON object"]);
    }
    assertEquals(reject({ tables: [] }), ["tables: expected an object"]);
  });

  it("rejects a repeated key, which would silently lose hidden columns [0012]", () => {
    const problems = reject(
      '{"tables": {"deals": {"hidden_columns": ["a:"]}, "de\\u0061ls": {"read_only": true}}}',
    );
    assertEquals(problems, ['"deals" is there twice']);
  });

  it("accepts one name in two objects [0012]", () => {
    accept({ tables: { a: { read_only: true }, b: { read_only: true } } });
  });
});

describe("docs/policy.schema.json", () => {
  it("has the members of the policy's own schema [T10]", async () => {
    const url = new URL("../../../docs/policy.schema.json", import.meta.url);
    const { readFile } = await import("node:fs/promises");
    const published = JSON.parse(await readFile(url, "utf8"));
    assertEquals(
      Object.keys(published.properties).sort(),
      Object.keys(POLICY_SCHEMA.entries).sort(),
    );
    const table = published.$defs.table;
    assertEquals(
      Object.keys(table.properties).sort(),
      Object.keys(TABLE_POLICY_SCHEMA.entries).sort(),
    );
    assertEquals([published.additionalProperties, table.additionalProperties], [false, false]);
    const samples: Readonly<Record<string, unknown>> = {
      string: "name",
      boolean: true,
      array: ["name", "other"],
    };
    for (const [member, rule] of Object.entries<{ type: string }>(table.properties)) {
      for (const [type, sample] of Object.entries(samples)) {
        const table = member === "writable" ? { expose: true } : {};
        const text = JSON.stringify({ tables: { t: { ...table, [member]: sample } } });
        assertEquals("policy" in parsePolicy(text), type === rule.type, `${member} as ${type}`);
      }
    }
  });
});
