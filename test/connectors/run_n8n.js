/**
 * Runs the n8n nodes as n8n does, one call for each line of standard input: `node run_n8n.js FOLDER`, where
 * FOLDER holds the built package. Each call is answered by one line: `{result}` or `{error}`.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const folder = process.argv[2];
const { RowgateApi } = require(
  join(folder, "credentials/RowgateApi.credentials.js"),
);
const { Rowgate } = require(join(folder, "nodes/Rowgate/Rowgate.node.js"));
const { RowgateTrigger } = require(
  join(folder, "nodes/RowgateTrigger/RowgateTrigger.node.js"),
);
const NODES = { Rowgate: new Rowgate(), RowgateTrigger: new RowgateTrigger() };

/** What n8n gives a node as `this`. */
function makeContext(
  { parameters = [{}], credentials, mode = "trigger", kept, goesOn = false },
) {
  const read = (name, itemIndex, fallback) => {
    const found = name.split(".").reduce(
      (value, key) => value?.[key],
      parameters[itemIndex],
    );
    return found === undefined ? fallback : found;
  };
  return {
    getInputData: () => parameters.map(() => ({ json: {} })),
    getNodeParameter: (name, itemIndex = 0, fallback = undefined) =>
      read(name, typeof itemIndex === "number" ? itemIndex : 0, fallback),
    getCurrentNodeParameter: (name) => read(name, 0),
    getNode: () => ({
      name: "Rowgate",
      type: "rowgate",
      typeVersion: 1,
      parameters: {},
    }),
    getMode: () => mode,
    getWorkflowStaticData: () => kept,
    getCredentials: () => Promise.resolve(credentials),
    continueOnFail: () => goesOn,
    helpers: { httpRequestWithAuthentication: sendRequest },
  };
}

/** Sends a request as n8n does, with the headers of the credentials. */
async function sendRequest(
  _type,
  { method, url, qs = {}, body, headers = {}, ...options },
) {
  const credentials = await this.getCredentials();
  const { Authorization } = new RowgateApi().authenticate.properties.headers;
  const target = new URL(url);
  for (const [name, value] of Object.entries(qs)) {
    target.searchParams.set(name, value);
  }
  const response = await fetch(target, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
      authorization: Authorization.slice(1).replace(
        "{{$credentials.token}}",
        credentials.token,
      ),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: options.disableFollowRedirect ? "manual" : "follow",
  });
  const text = await response.text();
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: text.startsWith("{") ? JSON.parse(text) : text,
  };
}

/** Sends the request by which the credentials are tested, and returns its status. */
async function testCredentials(credentials) {
  const { baseURL, url } = new RowgateApi().test.request;
  const [, expression] = /^=\{\{(.*)\}\}$/.exec(baseURL);
  const address = new Function("$credentials", `return ${expression}`)(credentials);
  const context = makeContext({ credentials });
  const { statusCode } = await sendRequest.call(context, "rowgateApi", { url: address + url });
  return statusCode;
}

/** Runs `execute`, `poll`, what fills a drop-down, or the test of the credentials. */
async function run({ node, call, ...given }) {
  if (call === "test") return { result: await testCredentials(given.credentials) };
  const context = makeContext(given);
  if (call === "describe") return NODES[node].description;
  const work = NODES[node][call] ?? NODES[node].methods.loadOptions[call];
  const result = await work.call(context);
  return { result, kept: given.kept };
}

for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  const answer = await run(given).catch((error) => ({
    kept: given.kept,
    error: error.message,
    code: error.httpCode,
    name: error.name,
    description: error.description,
  }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
