import { createApp, type Dependencies } from "../../src/app.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { ErrorExample } from "../../src/describe/interface/openapi/error_examples.ts";
import type { Example } from "../../src/describe/interface/openapi/examples.ts";
import type { ErrorStatus } from "../../src/operations/description.ts";
import { startDemonstration } from "../docs/documented_service.ts";
import { enableFeeds } from "../support/feeds.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { type RecipeResponse, sendRecipe } from "./send_recipe.ts";
import { type ErrorRecipe, REJECTIONS, SUCCESSES } from "./recipes.ts";

/** Records a success of each operation on the demonstration. */
export async function recordSuccesses(): Promise<readonly Example[]> {
  const service = await startDemonstration();
  const examples: Example[] = [];
  let id = "";
  for (const recipe of SUCCESSES) {
    const path = recipe.path.replace("{id}", id);
    const { status, body: response } = await sendRecipe(service.app, { ...recipe, path });
    id = (response as { webhook?: { id: string } }).webhook?.id ?? id;
    if (status !== (recipe.operation.startsWith("create") ? 201 : 200)) {
      throw new Error(`${recipe.operation}: ${status} ${JSON.stringify(response)}`);
    }
    const { operation, body } = recipe;
    examples.push({
      operation,
      ...(body !== undefined && { body }),
      response: fixWebhook(fixCursor(response)),
    });
  }
  await service.close();
  return examples;
}

/** No two cursors are alike. */
function fixCursor(response: unknown): unknown {
  const { cursor, ...rest } = response as Record<string, unknown>;
  if (typeof cursor !== "string") return response;
  const { more, ...before } = rest;
  return { ...before, cursor: "AQAAAAGkl3v0c2V0aGVyLWhhcHB5", more };
}

/** No two webhooks are alike. */
function fixWebhook(response: unknown): unknown {
  const text = JSON.stringify(response)
    .replace(/wh_[0-9A-Za-z]{16}/, "wh_0aB3dE6gH9jK2mN5")
    .replace(/whsec_[0-9A-Za-z+/]{43}=/, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDo7KLg8Ki9k0=")
    .replace(/("created_at":)"[^"]+"/, '$1"2026-05-01T12:00:00.000Z"');
  return JSON.parse(text);
}

/** Provokes each error of the document and records the response. */
export async function recordErrors(): Promise<readonly ErrorExample[]> {
  return [
    ...await recordRejections(),
    await exceedRateLimit(),
    await breakTokenStore(),
    await outliveCursor(),
    ...await recordTimeouts(),
  ].sort((a, b) => a.status - b.status);
}

async function recordRejections(): Promise<readonly ErrorExample[]> {
  const service = await startDemonstration();
  const examples: ErrorExample[] = [];
  for (const recipe of REJECTIONS) {
    examples.push(describe(recipe, await sendRecipe(service.app, recipe)));
  }
  await service.close();
  return examples;
}

async function exceedRateLimit(): Promise<ErrorExample> {
  const service = await startDemonstration({ ROWGATE_RATE_LIMIT: "1/min" });
  const recipe = { method: "GET", path: "/integration/token" };
  await sendRecipe(service.app, recipe);
  const response = await sendRecipe(service.app, recipe);
  await service.close();
  // How many seconds are left depends on how busy the machine is.
  const body = JSON.parse(
    JSON.stringify(response.body).replace(/try again in \d+ s/, "try again in 60 s"),
  );
  return describe({ name: "rateLimit", status: 429, summary: "Too many requests" }, {
    ...response,
    body,
  });
}

/** A cursor from before a column was added. */
async function outliveCursor(): Promise<ErrorExample> {
  const service = await createTestService("embedded");
  await enableFeeds(service, ["deals"]);
  const path = "/integration/tables/deals/changes";
  const { body } = await service.send("GET", `${path}?since=now`);
  await service.database.admin`alter table deals add column added int4`;
  const response = await service.send("GET", `${path}?since=${body["cursor"]}`);
  await service.close();
  return describe(
    { name: "cursor", status: 410, summary: "A cursor that is no longer valid" },
    response,
  );
}

/** An error inside the service: the token store throws something unexpected. */
async function breakTokenStore(): Promise<ErrorExample> {
  const { config } = readConfig({});
  const app = createApp({
    config: config!,
    tokens: { find: () => Promise.reject(new Error("broken")) },
    observe: () => {},
  } as unknown as Dependencies);
  const response = await sendRecipe(app, { method: "GET", path: "/integration/token" });
  return describe({ name: "internal", status: 500, summary: "An error in the service" }, response);
}

const SINGLE = "/integration/tables/deals/records/single";
const CHANGE = { filters: { fid: 7 }, fields: { title: "x" } };

/** What needs a real server: a row that stays locked, a statement that takes too long. */
async function recordTimeouts(): Promise<readonly ErrorExample[]> {
  const locked = await createTestService("real", {
    environment: { ROWGATE_LOCK_TIMEOUT_MS: "200", ROWGATE_REQUEST_TIMEOUT_MS: "100" },
  });
  const slow = await createTestService("real", {
    environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "1000" },
  });
  const examples = [
    await updateLocked(locked, { name: "locked", status: 503, summary: "A row that stays locked" }),
    await updateLocked(slow, {
      name: "slow",
      status: 504,
      summary: "A statement that takes too long",
    }),
    describe(
      { name: "silence", status: 408, summary: "A body that does not arrive" },
      await stallBody(locked),
    ),
  ];
  await locked.close();
  await slow.close();
  return examples;
}

async function updateLocked(
  service: TestService,
  error: Pick<ErrorRecipe, "name" | "status" | "summary">,
): Promise<ErrorExample> {
  return await service.database.admin.begin(async (sql) => {
    await sql`select from deals where fid = 7 for update`;
    const { status, body } = await service.send("PATCH", SINGLE, { body: CHANGE });
    return describe(error, { status, body });
  }) as ErrorExample;
}

async function stallBody(service: TestService) {
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  const { status, body: answer } = await service.send("PATCH", SINGLE, { raw: body });
  return { status, body: answer };
}

function describe(
  { name, status, summary }: Pick<ErrorRecipe, "name" | "status" | "summary">,
  response: RecipeResponse,
): ErrorExample {
  if (response.status !== status) {
    throw new Error(`${name}: ${response.status} ${JSON.stringify(response.body)}`);
  }
  const { success: _success, ...rest } = response.body as ErrorExample["body"];
  return { name, status: status as ErrorStatus, summary, body: { success: false, ...rest } };
}
