import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { printJson, REQUEST_FORMS } from "../../../src/console/request_text.ts";

const ADDRESS = "https://api.example.org/rows/";
const REQUEST = {
  method: "PATCH",
  path: "integration/tables/orders/records/bulk",
  body: { filters: { note: "it's $HOME", done: false }, fields: { note: null } },
  prefer: "max-affected=3",
} as const;

function write(name: string): string {
  return REQUEST_FORMS.find((form) => form.name === name)!.write(REQUEST, ADDRESS);
}

describe("a request to copy", () => {
  it("is a line for curl that a shell takes as it is", () => {
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
const answer = await response.json();
if (!response.ok) throw new Error(answer.error);`,
    );
  });

  it("is Python, with its words for true, false and null", () => {
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
answer = response.json()
if not response.ok:
    raise RuntimeError(answer["error"])`,
    );
  });

  it("is a node for n8n, the token left to a credential", () => {
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

  it("has JSON on one line where it is short", () => {
    assertEquals(
      printJson({ a: [], b: {}, c: [1, { d: "x" }] }),
      '{ "a": [], "b": {}, "c": [1, { "d": "x" }] }',
    );
    const long = { list: Array.from({ length: 3 }, () => "x".repeat(30)) };
    assertEquals(printJson(long), JSON.stringify(long, null, 2));
  });
});
