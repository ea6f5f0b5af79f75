import type { ApiRequest } from "./api.ts";

/** A way to write a request for another tool. */
export interface RequestFormat {
  readonly name: string;
  /** Where the token goes. */
  readonly hint: string;
  readonly write: (request: ApiRequest, serviceUrl: string) => string;
}

/** The formats in which a request can be copied. None of them contains the token. */
export const REQUEST_FORMATS: readonly RequestFormat[] = [
  { name: "curl", hint: "Reads the token from the environment variable TOKEN", write: writeCurl },
  { name: "fetch", hint: "Takes the token from a variable named token", write: writeFetch },
  {
    name: "Python",
    hint: "Reads the token from the environment variable TOKEN",
    write: writePython,
  },
  {
    name: "n8n",
    hint: "Paste it onto the canvas. Put the token into a Header Auth credential: name " +
      "Authorization, value Bearer …",
    write: writeN8n,
  },
];

function listHeaders(request: ApiRequest): [string, string][] {
  return [
    ...(request.body === undefined ? [] : [["Content-Type", "application/json"]]),
    ...(request.prefer === undefined ? [] : [["Prefer", request.prefer]]),
  ] as [string, string][];
}

function urlOf(request: ApiRequest, serviceUrl: string): string {
  return new URL(request.path, serviceUrl).href;
}

function writeCurl(request: ApiRequest, serviceUrl: string): string {
  const method = ["PATCH", "DELETE"].includes(request.method) ? `-X ${request.method} ` : "";
  const lines = [
    `curl -s ${method}${quoteShell(urlOf(request, serviceUrl))}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...listHeaders(request).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d ${quoteShell(printJson(request.body))}`]),
  ];
  return lines.join(" \\\n  ");
}

function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeFetch(request: ApiRequest, serviceUrl: string): string {
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
    `const response = await fetch(${JSON.stringify(urlOf(request, serviceUrl))}, {`,
    `  method: ${JSON.stringify(request.method)},`,
    "  headers: {",
    ...headers,
    "  },",
    ...body,
    "});",
    "const result = await response.json();",
    "if (!response.ok) throw new Error(result.error);",
  ].join("\n");
}

function writePython(request: ApiRequest, serviceUrl: string): string {
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
    ${JSON.stringify(urlOf(request, serviceUrl))},
    headers={
        "Authorization": "Bearer " + os.environ["TOKEN"],${prefer}
    },${body}
    timeout=60,
)
result = response.json()
if not response.ok:
    raise RuntimeError(result["error"])`;
}

/** Writes a node in the form that n8n's editor has on the clipboard. */
function writeN8n(request: ApiRequest, serviceUrl: string): string {
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
      url: urlOf(request, serviceUrl),
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

const MAX_LINE_CHARACTERS = 76;

/** Prints JSON to be read by people: objects and arrays that fit on one line stay on one. */
export function printJson(value: unknown): string {
  return print(value, { scalar: JSON.stringify, margin: "" });
}

function printPython(value: unknown): string {
  return print(value, { scalar: printPythonScalar, margin: "" });
}

function printPythonScalar(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // JSON writes lone surrogates as escapes; every other JSON string is a Python string too.
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
