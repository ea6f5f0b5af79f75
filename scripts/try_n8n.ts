/**
 * Runs the nodes of connectors/n8n in a real n8n, against the demonstration:
 * `deno run -A scripts/try_n8n.ts --n8n=/tmp/n8n [--node=/path/to/node]`, where /tmp/n8n has the package
 * n8n installed, and Node is 22 or later. n8n takes gigabytes and minutes to install, so the tests do without.
 * It makes and installs the package, then prints a line for each thing that it saw, with the time it took.
 */
import { deepEqual, ok } from "node:assert/strict";
import { mkdir, mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startCluster } from "../test/support/cluster.ts";
import { awaitText, startCommand } from "../test/runtime/run_process.ts";
import { buildNodes } from "./n8n/build_nodes.ts";
import { type N8n, startN8n } from "./n8n/start_n8n.ts";
import { readOption, step } from "./try_step.ts";
import {
  type Item,
  makeRequest,
  makeWebhook,
  openWorkflow,
  runWorkflow,
  SPLIT_ITEMS,
} from "./n8n/workflows.ts";

const PACKAGE = "n8n-nodes-rowgate";
const n8nFolder = readOption("n8n");
const node = readOption("node") ?? "node";
if (n8nFolder === undefined) {
  console.error("try_n8n.ts --n8n=FOLDER [--node=PROGRAM]");
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "rowgate-n8n-"));
const userFolder = join(folder, "user");
await mkdir(userFolder);
const packageFile = join(n8nFolder, "node_modules/n8n/package.json");
const { version } = JSON.parse(await readFile(packageFile, "utf8"));
console.log(`n8n ${version}, in ${folder}`);
await step("lints, builds, packs and installs the package", async () => {
  const files = await buildNodes({ node, folder: join(folder, PACKAGE), userFolder });
  return `without complaint, ${files} files`;
});
const server = startCommand("deno", ["serve"], {
  PORT: "0",
  ROWGATE_DATA_DIR: join(folder, "data"),
});
const banner = await awaitText(server, /Rowgate serves at [\s\S]*\n\n$/);
const [baseUrl = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(banner) ?? [];
const [token = ""] = /rg_\w+/.exec(banner) ?? [];
const cluster = await startCluster();
let n8n: N8n | undefined;
try {
  await step("starts n8n", async () => {
    const databaseUrl = cluster.url;
    n8n = await startN8n({ node, n8n: n8nFolder, folder: userFolder, databaseUrl });
    return n8n.address;
  });
  await tryNodes(n8n!);
} finally {
  await n8n?.stop();
  await cluster.stop();
  server.send("SIGTERM");
  await server.ended;
}

/** Everything that the README of the nodes promises. */
async function tryNodes(n8n: N8n): Promise<void> {
  const { rest } = n8n;
  const makeCredentials = async (name: string, token: string) => {
    const made = { name, type: "rowgateApi", data: { baseUrl, token } };
    const { id } = await rest<{ id: string }>("POST", "credentials", made);
    await step(`tests the credentials "${name}"`, async () => {
      const { status, message } = await rest<Item>("POST", "credentials/test", {
        credentials: { id, ...made },
      });
      deepEqual(status, name === "Rowgate" ? "OK" : "Error");
      return `${status}: ${message}`;
    });
    return { rowgateApi: { id, name } };
  };
  const credentials = await makeCredentials("Rowgate", token);
  await makeCredentials("Rowgate, unknown token", "rg_unknown");

  for (const method of ["getTables", "getWritableTables", "getFields", "getWritableFields"]) {
    await step(`fills a drop-down by ${method}`, async () => {
      const options = await rest<Item[]>("POST", "dynamic-node-parameters/options", {
        path: "parameters.table",
        methodName: method,
        nodeTypeAndVersion: { name: `${PACKAGE}.rowgate`, version: 1 },
        currentNodeParameters: { resource: "record", operation: "getMany", table: "orders" },
        credentials,
      });
      const values = options.map(({ value }) => value);
      ok(values.includes(method.endsWith("Tables") ? "orders" : "status"));
      deepEqual(values.includes("countries"), method === "getTables");
      return `${values.length} options`;
    });
  }

  const run = async (path: string, parameters: object, items?: readonly Item[]) => {
    await openWorkflow(n8n, path, [
      makeWebhook(path),
      ...(items === undefined ? [] : [SPLIT_ITEMS]),
      {
        ...{ name: "Rowgate", type: `${PACKAGE}.rowgate`, typeVersion: 1, credentials },
        onError: "continueRegularOutput",
        parameters: { resource: "record", table: "orders", ...parameters },
      },
    ]);
    return await runWorkflow(n8n, path, { items });
  };
  const value = (field: string, value: unknown) => ({ field, kind: "value", value });
  const get = { operation: "getMany", filterMode: "and" };
  const paid = { condition: [{ field: "status", op: "eq", value: "paid" }] };

  await step("gets all records, page by page", async () => {
    const found = await run("all", { ...get, returnAll: true });
    ok(found.length > 1000);
    deepEqual(new Set(found.map(({ id }) => id)).size, found.length);
    return `${found.length} items`;
  });
  await step("gets records by a filter, sorted, with the fields that are chosen", async () => {
    const found = await run("filtered", {
      ...{ ...get, returnAll: false, limit: 7, conditions: paid },
      sort: { item: [{ field: "total", direction: "desc" }] },
      options: { select: ["id", "status", "total"], largeNumbers: true },
    });
    deepEqual(found.length, 7);
    ok(found.every(({ status, total }) => status === "paid" && typeof total === "string"));
    return JSON.stringify(found[0]);
  });
  await step("updates a record", async () => {
    const found = await run("update", {
      ...{ operation: "update", filters: { item: [value("id", "7")] } },
      fields: { item: [value("note", "from n8n")] },
    });
    deepEqual(found, [{ table: "orders", matched: 1, updated: 1 }]);
    return JSON.stringify(found[0]);
  });
  await step("gives the service's message when none matches", async () => {
    const [found] = await run("none", {
      ...{ operation: "update", filters: { item: [value("id", "987654")] } },
      fields: { item: [value("note", "no")] },
    });
    deepEqual(found!.error, "No row matches the filters");
    return String(found!.error);
  });
  for (const [maxAffected, expected] of [[1, undefined], [5000, true]] as const) {
    await step(`updates many, at most ${maxAffected}`, async () => {
      const [found] = await run(`many_${maxAffected}`, {
        ...{ operation: "updateMany", maxAffected, filters: { item: [value("status", "paid")] } },
        fields: { item: [value("note", `at most ${maxAffected}`)] },
      });
      deepEqual(Number(found!.updated) > 1 || undefined, expected);
      return JSON.stringify(found);
    });
  }
  await step("updates 201 items in batches", async () => {
    const items = Array.from({ length: 201 }, (_, place) => ({ id: place + 1 }));
    const found = await run("batch", {
      ...{ operation: "updateBatch", filters: { item: [value("id", "={{ $json.id }}")] } },
      fields: { item: [value("note", "=item {{ $json.id }}")] },
    }, items);
    deepEqual(found.length, 201);
    ok(found.every(({ matched }) => matched === 1));
    return `${found.length} items`;
  });
  await tryTrigger(n8n, credentials);
}

/** n8n polls once a minute at most. */
async function tryTrigger(n8n: N8n, credentials: object): Promise<void> {
  const received: Item[] = [];
  const listener = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    received.push(JSON.parse(text));
    response.end("{}");
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  try {
    await openWorkflow(n8n, "trigger", [
      {
        ...{ name: "Rowgate Trigger", type: `${PACKAGE}.rowgateTrigger`, typeVersion: 1 },
        credentials,
        parameters: {
          ...{ table: "customers", types: ["upsert", "delete"], begin: "now" },
          pollTimes: { item: [{ mode: "everyMinute" }] },
        },
      },
      makeRequest(`http://127.0.0.1:${port}`),
    ]);
    await step("starts a workflow with what changed", async () => {
      const response = await fetch(`${baseUrl}/integration/tables/customers/records/single`, {
        method: "PATCH",
        headers: { "authorization": `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ filters: { id: 1 }, fields: { name: "Renamed" } }),
      });
      deepEqual(response.status, 200);
      const end = Date.now() + 130_000;
      while (received.length === 0 && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const [change] = received;
      deepEqual([received.length, change?.type, change?.key], [1, "upsert", { id: 1 }]);
      return JSON.stringify(change?.key);
    });
  } finally {
    listener.close();
  }
}
