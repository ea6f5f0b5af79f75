import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { printJson, REQUEST_FORMATS } from "../../../src/console/request_formats.ts";

const ADDRESS = "https://api.example.org/rows/";
const REQUEST = {
  method: "PATCH",
  path: "integration/tables/orders/records/bulk",
  body: { filters: { note: "it's $HOME", done: false }, fields: { note: null } },
  prefer: "max-affected=3",
} as const;

const QUERY = { method: "POST", path: "integration/tables/a/query", body: {} } as const;
const QUERY_TABLES = { method: "GET", path: "integration/tables" } as const;

/** A parameter of the HTTP Request node: its values, and the values of others that make it appear. */
interface N8nParameter {
  readonly values: readonly unknown[] | "string" | "object";
  readonly preset?: unknown;
  readonly where?: Readonly<Record<string, unknown>>;
}

/** The parameters used here, from the node's description of version 4. */
const N8N_PARAMETERS: Readonly<Record<string, N8nParameter>> = {
  method: { values: ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"], preset: "GET" },
  url: { values: "string" },
  authentication: { values: ["none", "predefinedCredentialType", "genericCredentialType"] },
  genericAuthType: {
    values: ["httpBasicAuth", "httpBearerAuth", "httpHeaderAuth", "httpQueryAuth"],
    where: { authentication: "genericCredentialType" },
  },
  sendHeaders: { values: [true, false], preset: false },
  specifyHeaders: { values: ["keypair", "json"], preset: "keypair", where: { sendHeaders: true } },
  headerParameters: {
    values: "object",
    where: { sendHeaders: true, specifyHeaders: "keypair" },
  },
  sendBody: { values: [true, false], preset: false },
  contentType: { values: ["json", "raw"], preset: "json", where: { sendBody: true } },
  specifyBody: {
    values: ["keypair", "json"],
    preset: "keypair",
    where: { sendBody: true, contentType: "json" },
  },
  jsonBody: {
    values: "string",
    where: { sendBody: true, contentType: "json", specifyBody: "json" },
  },
  options: { values: "object" },
};

function write(name: string): string {
  return REQUEST_FORMATS.find((form) => form.name === name)!.write(REQUEST, ADDRESS);
}

describe("a request to copy", () => {
  it("is a curl command that a shell accepts unchanged", () => {
    assertEquals(
      write("curl"),
      String
        .raw`curl -s -X PATCH 'https://api.example.org/rows/integration/tables/orders/records/bulk' \
  -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' \
  -H 'Prefer: max-affected=3' \
  -d '{
  "filters": { "note": "it'\''s $HOME", "done": false },
  "fields": { "note": null }
}'`,
    );
  });

  it("is a call of fetch", () => {
    assertEquals(
      write("fetch"),
      `const response = await fetch("https://api.example.org/rows/integration/tables/orders/records/bulk", {
  method: "PATCH",
  headers: {
    Authorization: \`Bearer \${token}\`,
    "Content-Type": "application/json",
    Prefer: "max-affected=3",
  },
  body: JSON.stringify({
    "filters": { "note": "it's $HOME", "done": false },
    "fields": { "note": null }
  }),
});
const result = await response.json();
if (!response.ok) throw new Error(result.error);`,
    );
  });

  it("is Python, with True, False and None", () => {
    assertEquals(
      write("Python"),
      `import os
import requests

response = requests.request(
    "PATCH",
    "https://api.example.org/rows/integration/tables/orders/records/bulk",
    headers={
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Prefer": "max-affected=3",
    },
    json={
      "filters": { "note": "it's $HOME", "done": False },
      "fields": { "note": None }
    },
    timeout=60,
)
result = response.json()
if not response.ok:
    raise RuntimeError(result["error"])`,
    );
  });

  it("is a program that Python runs, if Python is installed", () => {
    // Replaces the library, which may not be installed, and prints the request.
    const library = `import json, sys, types
class Answer:
    ok = True
    def json(self): return {}
def request(method, url, **given):
    print(json.dumps([method, url, given]))
    return Answer()
sys.modules["requests"] = types.SimpleNamespace(request=request)
`;
    const env = { ...process.env, TOKEN: "TOKEN" };
    const { error, stdout } = spawnSync("python3", ["-c", library + write("Python")], { env });
    if (error !== undefined) return;
    assertEquals(JSON.parse(stdout.toString()), ["PATCH", new URL(REQUEST.path, ADDRESS).href, {
      headers: { Authorization: "Bearer TOKEN", Prefer: REQUEST.prefer },
      json: REQUEST.body,
      timeout: 60,
    }]);
  });

  it("is an n8n node that leaves the token to a credential", () => {
    const { nodes: [node] } = JSON.parse(write("n8n"));
    assertEquals(node.type, "n8n-nodes-base.httpRequest");
    assertEquals(node.parameters, {
      method: "PATCH",
      url: "https://api.example.org/rows/integration/tables/orders/records/bulk",
      authentication: "genericCredentialType",
      genericAuthType: "httpHeaderAuth",
      sendHeaders: true,
      headerParameters: { parameters: [{ name: "Prefer", value: "max-affected=3" }] },
      sendBody: true,
      specifyBody: "json",
      jsonBody: printJson(REQUEST.body),
      options: {},
    });
    assertEquals(JSON.parse(node.parameters.jsonBody), REQUEST.body);
  });

  it("is an n8n node with documented parameters of the HTTP Request node, each where n8n shows it", () => {
    for (const request of [REQUEST, QUERY, QUERY_TABLES]) {
      const text = REQUEST_FORMATS.find(({ name }) => name === "n8n")!.write(request, ADDRESS);
      const { nodes, connections, ...rest } = JSON.parse(text);
      assertEquals([nodes.length, connections, rest], [1, {}, {}]);
      const { parameters, position, name, ...node } = nodes[0];
      assertEquals(node, { type: "n8n-nodes-base.httpRequest", typeVersion: 4.2 });
      assertEquals([typeof name, position], ["string", [0, 0]]);
      for (const [key, value] of Object.entries(parameters)) {
        const { values, where = {} } = N8N_PARAMETERS[key]!;
        const kind: string = typeof value;
        const fits = typeof values === "string" ? kind === values : values.includes(value);
        assert(fits, `${key}: ${value}`);
        // n8n evaluates a text that starts with "=" as an expression.
        assertEquals(String(value).startsWith("="), false);
        for (const [other, wanted] of Object.entries(where)) {
          assertEquals(parameters[other] ?? N8N_PARAMETERS[other]!.preset, wanted, key);
        }
      }
      for (const { name, value, ...more } of parameters.headerParameters?.parameters ?? []) {
        assertEquals([typeof name, typeof value, more], ["string", "string", {}]);
      }
    }
  });

  it("has short JSON on one line", () => {
    assertEquals(
      printJson({ a: [], b: {}, c: [1, { d: "x" }] }),
      '{ "a": [], "b": {}, "c": [1, { "d": "x" }] }',
    );
    const long = { list: Array.from({ length: 3 }, () => "x".repeat(30)) };
    assertEquals(printJson(long), JSON.stringify(long, null, 2));
  });
});
