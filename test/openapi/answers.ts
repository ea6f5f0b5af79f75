import { createApp, type Dependencies } from "../../src/app.ts";
import { readConfig } from "../../src/config/config.ts";
import { DEMONSTRATION_POLICY } from "../../src/demonstration/schema.ts";
import { openEmbedded } from "../../src/embedded/embedded_postgres.ts";
import type { ErrorExample } from "../../src/interface/openapi/error_examples.ts";
import type { Example } from "../../src/interface/openapi/examples.ts";
import type { ErrorStatus } from "../../src/interface/openapi/operations.ts";
import { startDemonstration, startService } from "../docs/documented_service.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { ask } from "./ask.ts";
import { type ErrorRecipe, REFUSALS, SUCCESSES } from "./recipes.ts";

/** Asks the demonstration for a success of each operation. */
export async function askSuccesses(): Promise<readonly Example[]> {
  const service = await startDemonstration();
  const examples: Example[] = [];
  for (const recipe of SUCCESSES) {
    const { status, body: answer } = await ask(service.app, recipe);
    if (status !== 200) throw new Error(`${recipe.operation}: ${status} ${JSON.stringify(answer)}`);
    const { operation, body } = recipe;
    examples.push({ operation, ...(body !== undefined && { body }), answer });
  }
  await service.close();
  return examples;
}

/** Brings about each error of the document, and gives what was answered. */
export async function askErrors(): Promise<readonly ErrorExample[]> {
  return [
    ...await askRefusals(),
    await askPastRateLimit(),
    await askBroken(),
    ...await askInTrouble(),
  ].sort((a, b) => a.status - b.status);
}

async function askRefusals(): Promise<readonly ErrorExample[]> {
  const service = await startDemonstration();
  const examples: ErrorExample[] = [];
  for (const recipe of REFUSALS) {
    examples.push(describe(recipe, await ask(service.app, recipe)));
  }
  await service.close();
  return examples;
}

async function askPastRateLimit(): Promise<ErrorExample> {
  const embedded = await openEmbedded();
  const policy = JSON.stringify(DEMONSTRATION_POLICY);
  const service = await startService({ ROWGATE_RATE_LIMIT: "1/min" }, { policy, embedded });
  const recipe = { method: "GET", path: "/integration/token" };
  await ask(service.app, recipe);
  const asked = await ask(service.app, recipe);
  await service.close();
  return describe({ name: "rateLimit", status: 429, summary: "Too many requests" }, asked);
}

/** A fault of ours: what looks tokens up throws what nobody expects. */
async function askBroken(): Promise<ErrorExample> {
  const { config } = readConfig({});
  const app = createApp({
    config: config!,
    tokens: { find: () => Promise.reject(new Error("broken")) },
    observe: () => {},
  } as unknown as Dependencies);
  const asked = await ask(app, { method: "GET", path: "/integration/token" });
  return describe({ name: "internal", status: 500, summary: "A fault of the service" }, asked);
}

const SINGLE = "/integration/tables/deals/records/single";
const CHANGE = { filters: { fid: 7 }, fields: { title: "x" } };

/** What only a real server gets into: a row that stays locked, a statement that takes too long. */
async function askInTrouble(): Promise<readonly ErrorExample[]> {
  const locked = await createTestService("real", {
    environment: { ROWGATE_LOCK_TIMEOUT_MS: "200", ROWGATE_REQUEST_TIMEOUT_MS: "100" },
  });
  const slow = await createTestService("real", {
    environment: { ROWGATE_STATEMENT_TIMEOUT_MS: "1000" },
  });
  const examples = [
    await askLocked(locked, { name: "locked", status: 503, summary: "A row that stays locked" }),
    await askLocked(slow, {
      name: "slow",
      status: 504,
      summary: "A statement that takes too long",
    }),
    describe(
      { name: "silence", status: 408, summary: "A body that does not come" },
      await askSlowly(locked),
    ),
  ];
  await locked.close();
  await slow.close();
  return examples;
}

async function askLocked(
  service: TestService,
  error: Pick<ErrorRecipe, "name" | "status" | "summary">,
): Promise<ErrorExample> {
  return await service.database.admin.begin(async (sql) => {
    await sql`select from deals where fid = 7 for update`;
    const { status, body } = await service.send("PATCH", SINGLE, { body: CHANGE });
    return describe(error, { status, body });
  }) as ErrorExample;
}

async function askSlowly(service: TestService) {
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  const { status, body: answer } = await service.send("PATCH", SINGLE, { raw: body });
  return { status, body: answer };
}

function describe(
  { name, status, summary }: Pick<ErrorRecipe, "name" | "status" | "summary">,
  asked: { readonly status: number; readonly body: unknown },
): ErrorExample {
  if (asked.status !== status) {
    throw new Error(`${name}: ${asked.status} ${JSON.stringify(asked.body)}`);
  }
  const { success: _success, ...rest } = asked.body as ErrorExample["body"];
  return { name, status: status as ErrorStatus, summary, body: { success: false, ...rest } };
}
