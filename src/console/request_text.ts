import type { Request } from "./ask.ts";

/** A way to write a request for somebody else's tool. */
export interface RequestForm {
  readonly name: string;
  readonly hint: string;
  readonly write: (request: Request, address: string) => string;
}

/** The forms in which a request can be copied; none of them holds the token. */
export const REQUEST_FORMS: readonly RequestForm[] = [
  { name: "curl", hint: "Reads the token from $TOKEN", write: writeCurl },
  { name: "fetch", hint: "Set token beforehand", write: writeFetch },
  { name: "Python", hint: "Reads the token from the variable TOKEN", write: writePython },
  {
    name: "n8n",
    hint: "Paste it onto the canvas; the token goes into a Header Auth credential: " +
      "Authorization, Bearer …",
    write: writeN8n,
  },
];

function listHeaders(request: Request): [string, string][] {
  return [
    ...(request.body === undefined ? [] : [["Content-Type", "application/json"]]),
    ...(request.prefer === undefined ? [] : [["Prefer", request.prefer]]),
  ] as [string, string][];
}

function urlOf(request: Request, address: string): string {
  return new URL(request.path, address).href;
}

function writeCurl(request: Request, address: string): string {
  const method = request.method === "PATCH" ? "-X PATCH " : "";
  const lines = [
    `curl -s ${method}${quoteShell(urlOf(request, address))}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...listHeaders(request).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d ${quoteShell(printJson(request.body))}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeFetch(request: Request, address: string): string {
  const headers = [
    "    Authorization: `Bearer ${token}`,",
    ...listHeaders(request).map(([name, value]) =>
      `    ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)},`
    ),
  ];
  const body = request.body === undefined
    ? []
    : [`  body: JSON.stringify(${indent(printJson(request.body), 2)}),`];
  return [
    `const response = await fetch(${JSON.stringify(urlOf(request, address))}, {`,
    `  method: ${JSON.stringify(request.method)},`,
    "  headers: {",
    ...headers,
    "  },",
    ...body,
    "});",
    "const answer = await response.json();",
    "if (!response.ok) throw new Error(answer.error);",
  ].join("\n");
}

function writePython(request: Request, address: string): string {
  const prefer = request.prefer === undefined
    ? ""
    : `\n        "Prefer": ${JSON.stringify(request.prefer)},`;
  const body = request.body === undefined
    ? ""
    : `\n    json=${indent(printPython(request.body), 4)},`;
  return `import os
import requests

response = requests.request(
    ${JSON.stringify(request.method)},
    ${JSON.stringify(urlOf(request, address))},
    headers={
        "Authorization": "Bearer " + os.environ["TOKEN"],${prefer}
    },${body}
    timeout=60,
)
answer = response.json()
if not response.ok:
    raise RuntimeError(answer["error"])`;
}

/** A node as n8n's editor puts it on the clipboard. */
function writeN8n(request: Request, address: string): string {
  const headers = request.prefer === undefined ? {} : {
    sendHeaders: true,
    headerParameters: { parameters: [{ name: "Prefer", value: request.prefer }] },
  };
  const body = request.body === undefined ? {} : {
    sendBody: true,
    specifyBody: "json",
    jsonBody: printJson(request.body),
  };
  const node = {
    parameters: {
      method: request.method,
      url: urlOf(request, address),
      authentication: "genericCredentialType",
      genericAuthType: "httpHeaderAuth",
      ...headers,
      ...body,
      options: {},
    },
    name: `Rowgate ${request.path.split("/")[2] ?? ""}`.trim(),
    type: "n8n-nodes-base.httpRequest",
    typeVersion: 4.2,
    position: [0, 0],
  };
  return JSON.stringify({ nodes: [node], connections: {} }, null, 2);
}

function indent(text: string, columns: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(columns)}`);
}

/** What is this short stands on one line. */
const MAX_LINE_CHARACTERS = 76;

/** Prints JSON for people: short objects and lists on one line. */
export function printJson(value: unknown): string {
  return print(value, { scalar: JSON.stringify, margin: "" });
}

function printPython(value: unknown): string {
  return print(value, { scalar: printPythonScalar, margin: "" });
}

function printPythonScalar(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // A lone half of a character stands as an escape; the rest of JSON's strings is Python's too.
  return JSON.stringify(value);
}

interface Printing {
  readonly scalar: (value: unknown) => string;
  readonly margin: string;
}

function print(value: unknown, { scalar, margin }: Printing): string {
  if (typeof value !== "object" || value === null) return scalar(value);
  const list = Array.isArray(value);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  const entries = list ? value.map((item) => ["", item]) : Object.entries(value);
  if (entries.length === 0) return open + close;
  const write = (inner: string) =>
    entries.map(([key, item]) =>
      (list ? "" : `${JSON.stringify(key)}: `) + print(item, { scalar, margin: inner })
    );
  const gap = list ? "" : " ";
  const short = `${open}${gap}${write("").join(", ")}${gap}${close}`;
  if (!short.includes("\n") && margin.length + short.length <= MAX_LINE_CHARACTERS) return short;
  const inner = `${margin}  `;
  return `${open}\n${inner}${write(inner).join(`,\n${inner}`)}\n${margin}${close}`;
}
