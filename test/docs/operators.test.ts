// Runs the SQL of docs/operators.md, in order, as the owner of a real Postgres with the demonstration, with another
// name for the role. Then serves with that role, with the policy file of the page and row level security.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { parsePolicy } from "../../src/catalogue/policy.ts";
import { readConfig } from "../../src/server/config/config.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { fillDemonstration } from "../../src/cli/demonstration/fill.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { readDocument, readTexts } from "./blocks.ts";
import type { DocumentedService } from "./documented_service.ts";
import { startService } from "./documented_service.ts";

const markdown = await readDocument("docs/operators.md");
const role = `operators_${crypto.randomUUID().slice(0, 8)}`;

describe("the SQL and the policy file in docs/operators.md", () => {
  let test: TestDatabase;
  let plain: DocumentedService;
  let guarded: DocumentedService;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await fill(test);
    for (const statement of readStatements()) await test.admin.unsafe(statement);
    await test.admin.unsafe(`alter role ${role} password 'x'`);
    const url = new URL(test.url!);
    url.username = role;
    url.password = "x";
    const [policy = ""] = readTexts(markdown, "json");
    plain = await startService({ DATABASE_URL: url.href }, { policy });
    const setting = { ROWGATE_TENANT_SETTING: "app.tenant_id", ROWGATE_AUDIT: "on" };
    guarded = await startService({ DATABASE_URL: url.href, ...setting }, { policy });
  });

  after(async () => {
    await plain?.close();
    await guarded?.close();
    await test?.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
    await test?.drop();
  });

  async function send(
    { app }: DocumentedService,
    request: { readonly path: string; readonly token?: string; readonly patch?: unknown },
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const { path, token = "TOKEN", patch } = request;
    const method = patch === undefined ? path.endsWith("/query") ? "POST" : "GET" : "PATCH";
    const response = await app(
      new Request(`http://127.0.0.1/integration/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(method === "GET" ? {} : { body: JSON.stringify(patch ?? {}) }),
      }),
    );
    return { status: response.status, body: await response.json() };
  }

  it("shows policies that are accepted [T10] [T57]", () => {
    const policies = readTexts(markdown, "json");
    assertEquals(policies.length, 5);
    for (const policy of policies) assert("policy" in parsePolicy(policy), policy);
  });

  it("expose the tables that the page lists [T2]", async () => {
    const { body } = await send(guarded, { path: "tables" });
    const tables = body.tables as { name: string; writable: boolean }[];
    assertEquals(tables.map(({ name, writable }) => `${name} ${writable}`), [
      "countries false",
      "customers false",
      "order_lines false",
      "order_totals false",
      "orders true",
      "products true",
    ]);
  });

  it("let each tenant pass row level security [R22]", async () => {
    const path = "tables/orders/query";
    assertEquals((await send(guarded, { path })).body.total, 1500);
    assertEquals((await send(guarded, { path, token: "GLOBEX_TOKEN" })).body.total, 1000);
    const patch = { filters: { id: 1 }, fields: { note: "seen" } };
    const single = "tables/orders/records/single";
    assertEquals((await send(guarded, { path: single, patch })).body.updated, 1);
    assertEquals((await send(guarded, { path: single, patch, token: "GLOBEX_TOKEN" })).status, 404);
  });

  it("let the role write, read and delete the audit [R23]", async () => {
    const patch = { filters: { id: 2 }, fields: { note: "audited" } };
    const single = "tables/orders/records/single";
    assertEquals((await send(guarded, { path: single, patch })).body.updated, 1);
    const readAudit = readStatements().filter((text) => text.startsWith("select at, token_id"));
    await test.admin`update rowgate.audit set fields = fields || '{status}'`;
    const [row] = await test.admin.unsafe(readAudit.join());
    assertEquals([row?.token_id, row?.updated], ["hVn3Kq7Tz2Y", "1"]);
  });

  it("show no row without the setting of row level security [R22]", async () => {
    assertEquals((await send(plain, { path: "tables/orders/query" })).body.total, 0);
  });

  it("prevent an update of a column without UPDATE [T53]", async () => {
    const patch = { filters: { id: 1 }, fields: { price: 1 } };
    const response = await send(plain, { path: "tables/products/records/single", patch });
    assertEquals(response.status, 400);
  });

  it("hide a column without SELECT [T18]", async () => {
    const { body } = await send(plain, { path: "tables/customers/fields" });
    const names = (body.fields as { name: string }[]).map((field) => field.name);
    assertEquals(names.includes("credit_limit"), false);
    assertEquals(names.includes("newsletter"), false);
  });

  it("show each tenant its own rows of the view [T7]", async () => {
    const path = "tables/order_totals/query";
    assertEquals((await send(plain, { path })).body.total, 1500);
    assertEquals((await send(plain, { path, token: "GLOBEX_TOKEN" })).body.total, 1000);
  });

  it("send a notification of a schema change [T38]", async () => {
    const { promise: notified, resolve } = Promise.withResolvers<unknown>();
    await test.admin.listen("rowgate_catalogue", resolve);
    await test.admin`alter table products add column colour text`;
    await notified;
  });
});

async function fill(test: TestDatabase): Promise<void> {
  const { config } = readConfig({ DATABASE_URL: test.url });
  const database = openDatabase(config!, () => {});
  await fillDemonstration(database);
  await migrateSchema(database);
  await database.close(1000);
}

function readStatements(): string[] {
  return readTexts(markdown, "sql").map((text) => text.replaceAll("rowgate_app", role));
}
