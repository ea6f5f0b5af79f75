import { holdsJsonText, writeExact } from "./exact_json.ts";
import type { ServiceRequest } from "./described.ts";
import { printJson, printPython, printText } from "./print_literal.ts";
import { joinAddress, listHeaders, writeCurl } from "./write_curl.ts";
import { writeN8n } from "./write_n8n.ts";

/** A way to write a request for another tool. */
export interface RequestFormat {
  readonly name: string;
  /** Where the token goes. */
  readonly hint: string;
  readonly write: (request: ServiceRequest, address: string) => string;
}

/**
 * The formats in which a request can be copied. None of them contains the token. Each runs as it is, with
 * nothing installed but the tool itself, and prints the response.
 */
export const REQUEST_FORMATS: readonly RequestFormat[] = [
  {
    name: "curl",
    hint: "Reads the token from the environment variable ROWGATE_TOKEN",
    write: (request, address) => writeCurl(request, { address }),
  },
  {
    name: "fetch",
    hint:
      "JavaScript or TypeScript for Node, Deno or Bun, saved as a file .mjs or .ts. Reads the " +
      "token from the environment variable ROWGATE_TOKEN",
    write: writeFetch,
  },
  {
    name: "Python",
    hint: "Reads the token from the environment variable ROWGATE_TOKEN",
    write: writePython,
  },
  {
    name: "n8n",
    hint: "Paste it onto the canvas. Put the token into a Header Auth credential: name " +
      "Authorization, value Bearer …",
    write: writeN8n,
  },
];

function writeFetch(request: ServiceRequest, address: string): string {
  const headers = [
    "    Authorization: `Bearer ${process.env.ROWGATE_TOKEN}`,",
    ...listHeaders(request).map(([name, value]) =>
      `    ${/^\w+$/.test(name) ? name : printText(name)}: ${printText(value)},`
    ),
  ];
  const body = request.body === undefined ? [] : holdsJsonText(request.body)
    // A literal of the language would round it.
    ? [`  body: ${printText(writeExact(request.body))},`]
    : [`  body: JSON.stringify(${indent(printJson(request.body), 2)}),`];
  return [
    `const response = await fetch(${printText(joinAddress(address, request.path))}, {`,
    `  method: ${printText(request.method)},`,
    "  headers: {",
    ...headers,
    "  },",
    ...body,
    "});",
    // The type of response.json() is not the same everywhere.
    "const result = JSON.parse(await response.text());",
    "if (!response.ok) throw new Error(result.error);",
    "console.log(JSON.stringify(result, null, 2));",
  ].join("\n");
}

function writePython(request: ServiceRequest, address: string): string {
  const headers = listHeaders(request)
    .map(([name, value]) => `\n        ${printText(name)}: ${printText(value)},`);
  const body = request.body === undefined
    ? ""
    : holdsJsonText(request.body)
    ? `\n    data=${printText(writeExact(request.body))}.encode(),`
    : `\n    data=json.dumps(${indent(printPython(request.body), 4)}).encode(),`;
  return `import json, os, urllib.error, urllib.request

request = urllib.request.Request(
    ${printText(joinAddress(address, request.path))},
    method=${printText(request.method)},
    headers={
        "Authorization": "Bearer " + os.environ["ROWGATE_TOKEN"],${headers.join("")}
    },${body}
)
try:
    with urllib.request.urlopen(request, timeout=60) as response:
        result = json.load(response)
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode())
print(json.dumps(result, indent=2, ensure_ascii=False))`;
}

function indent(text: string, columns: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(columns)}`);
}
