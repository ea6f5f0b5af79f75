import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { printJson } from "../../../src/describe/reference/print_literal.ts";
import { REQUEST_FORMATS } from "../../../src/describe/reference/request_formats.ts";
import { writeCurl } from "../../../src/describe/reference/write_curl.ts";

const ADDRESS = "https://api.example.org/rows/";
const REQUEST = {
  method: "PATCH",
  path: "integration/tables/orders/records/bulk",
  body: { filters: { note: "it's $HOME", done: false }, fields: { note: null } },
  prefer: "max-affected=3",
} as const;

const QUERY = {
  method: "POST",
  path: "integration/tables/a/query",
  body: { select: ["id"], page: 3, per_page: 25 },
} as const;
const CHANGES = {
  method: "GET",
  path: "integration/tables/a/changes?since=start&limit=5",
} as const;
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

/** Those of the option Pagination, from the same description. */
const N8N_PAGINATION: Readonly<Record<string, N8nParameter>> = {
  paginationMode: {
    values: ["off", "updateAParameterInEachRequest", "responseContainsNextURL"],
    preset: "updateAParameterInEachRequest",
  },
  nextURL: { values: "string", where: { paginationMode: "responseContainsNextURL" } },
  paginationCompleteWhen: {
    values: ["responseIsEmpty", "receiveSpecificStatusCodes", "other"],
    preset: "responseIsEmpty",
  },
  completeExpression: { values: "string", where: { paginationCompleteWhen: "other" } },
};

function checkN8nParameters(
  parameters: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, N8nParameter>>,
): void {
  for (const [key, value] of Object.entries(parameters)) {
    const { values, where = {} } = known[key]!;
    const kind: string = typeof value;
    const fits = typeof values === "string" ? kind === values : values.includes(value);
    assert(fits, `${key}: ${value}`);
    for (const [other, wanted] of Object.entries(where)) {
      assertEquals(parameters[other] ?? known[other]!.preset, wanted, key);
    }
  }
}

function write(name: string): string {
  return REQUEST_FORMATS.find((form) => form.name === name)!.write(REQUEST, ADDRESS);
}

describe("a request to copy", () => {
  it("is a curl command that a shell accepts unchanged", () => {
    assertEquals(
      write("curl"),
      String
        .raw`curl -s -X PATCH 'https://api.example.org/rows/integration/tables/orders/records/bulk' \
  -H "Authorization: Bearer $ROWGATE_TOKEN" \
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
    Authorization: \`Bearer \${process.env.ROWGATE_TOKEN}\`,
    "Content-Type": "application/json",
    Prefer: "max-affected=3",
  },
  body: JSON.stringify({
    "filters": { "note": "it's $HOME", "done": false },
    "fields": { "note": null }
  }),
});
const result = JSON.parse(await response.text());
if (!response.ok) throw new Error(result.error);
console.log(JSON.stringify(result, null, 2));`,
    );
  });

  it("is Python, with True, False and None", () => {
    assertEquals(
      write("Python"),
      `import json, os, urllib.error, urllib.request

request = urllib.request.Request(
    "https://api.example.org/rows/integration/tables/orders/records/bulk",
    method="PATCH",
    headers={
        "Authorization": "Bearer " + os.environ["ROWGATE_TOKEN"],
        "Content-Type": "application/json",
        "Prefer": "max-affected=3",
    },
    data=json.dumps({
      "filters": { "note": "it's $HOME", "done": False },
      "fields": { "note": None }
    }).encode(),
)
try:
    with urllib.request.urlopen(request, timeout=60) as response:
        result = json.load(response)
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode())
print(json.dumps(result, indent=2, ensure_ascii=False))`,
    );
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
    for (const request of [REQUEST, QUERY, QUERY_TABLES, CHANGES]) {
      const text = REQUEST_FORMATS.find(({ name }) => name === "n8n")!.write(request, ADDRESS);
      const { nodes, connections, ...rest } = JSON.parse(text);
      assertEquals([nodes.length, connections, rest], [1, {}, {}]);
      const { parameters, position, name, ...node } = nodes[0];
      assertEquals(node, { type: "n8n-nodes-base.httpRequest", typeVersion: 4.2 });
      assertEquals([typeof name, position], ["string", [0, 0]]);
      checkN8nParameters(parameters, N8N_PARAMETERS);
      // n8n evaluates a text that starts with "=" as an expression.
      for (const value of Object.values(parameters)) assert(!String(value).startsWith("="));
      for (const { name, value, ...more } of parameters.headerParameters?.parameters ?? []) {
        assertEquals([typeof name, typeof value, more], ["string", "string", {}]);
      }
      const { pagination, ...otherOptions } = parameters.options;
      assertEquals(otherOptions, {});
      assertEquals(pagination !== undefined, request === QUERY || request === CHANGES);
      if (pagination === undefined) continue;
      assertEquals(Object.keys(pagination), ["pagination"]);
      checkN8nParameters(pagination.pagination, N8N_PAGINATION);
      // n8n cuts these characters off an expression.
      for (const key of ["nextURL", "completeExpression"]) {
        assertEquals(/^={{ .* }}$/.test(pagination.pagination[key]), true);
      }
    }
  });

  it("is an n8n node that reads all pages of a query, not the one on the screen", () => {
    const n8n = REQUEST_FORMATS.find(({ name }) => name === "n8n")!;
    const written = (prefer?: string) =>
      JSON.parse(n8n.write({ ...QUERY, ...(prefer !== undefined && { prefer }) }, ADDRESS)).nodes[0]
        .parameters;
    assertEquals(JSON.parse(written().jsonBody), { select: ["id"], per_page: 200 });
    for (
      const [given, sent] of [
        [undefined, "page-token"],
        ["count=none", "page-token, count=none"],
        ["page-token", "page-token"],
      ] as const
    ) {
      assertEquals(written(given).headerParameters.parameters[0].value, sent);
    }
  });

  it("is one line of curl with the token in it, as the start prints it", () => {
    assertEquals(
      writeCurl({ method: "POST", path: "a", body: { b: "it's" } }, {
        address: "http://h:1",
        token: "T",
        short: true,
      }),
      String.raw`curl -s 'http://h:1/a' -H 'Authorization: Bearer T' ` +
        String.raw`-H 'Content-Type: application/json' -d '{"b":"it'\''s"}'`,
    );
  });

  it("shows no character that is not seen", () => {
    const text = "a\u202eb\u200bc\u0085d\u00a0e\ufeff";
    assertEquals(
      printJson({ text }),
      String.raw`{ "text": "a\u202eb\u200bc\u0085d\u00a0e\ufeff" }`,
    );
    assertEquals(JSON.parse(printJson(text)), text);
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
