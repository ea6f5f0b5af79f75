/**
 * Measures how fast one instance delivers webhooks to a receiver on this machine that answers at once:
 * `deno run -A scripts/bench/webhooks.ts --tenants=20 --seconds=10`. At rest, the time from a commit to
 * its message; under load, changes and messages a second, and when the last of them arrived.
 */
import process from "node:process";
import postgres from "postgres";
import { openChanges } from "../../src/changes/changes.ts";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/postgres/open_database.ts";
import { openWebhookService } from "../../src/webhooks/webhook_service.ts";
import { enableFeeds } from "../../test/support/feeds.ts";
import { openReceiver } from "../../test/support/receiver.ts";
import { createTestService } from "../../test/support/service.ts";
import { startCluster } from "../../test/support/cluster.ts";
import { readFlags } from "./read_flags.ts";

const values = readFlags({
  tenants: { type: "string", default: "20" },
  seconds: { type: "string", default: "10" },
});
const tenants = Number(values.tenants);
const seconds = Number(values.seconds);
const rows = tenants * 500;

const cluster = await startCluster({ settings: { synchronous_commit: "on" } });
const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
await admin`create database template_empty`;
await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
await admin.end();
const receiver = await openReceiver();
const service = await createTestService("real", {
  template: "empty",
  cluster: cluster.url,
  environment: { ROWGATE_WEBHOOK_HOSTS: receiver.host },
});
const { admin: writer } = service.database;
await writer.unsafe(`create table parcels (id int4 primary key, tenant_id int4 not null, n int4);
  insert into parcels select n, 1 + n % ${tenants}, 0 from generate_series(1, ${rows}) n;
  grant select on parcels to rowgate_app`);
await service.catalogue.refresh(await service.catalogue.current(), { reason: "bench" });
await enableFeeds(service, ["parcels"]);
for (let tenant = 1; tenant <= tenants; tenant++) {
  const token = await service.issue({ tenant: String(tenant), scopes: ["query", "webhooks"] });
  const body = { url: `${receiver.address}/${tenant}`, tables: ["parcels"] };
  const created = await service.send("POST", "/integration/webhooks", { token, body });
  if (created.status !== 201) throw new Error(created.text);
}
// Deliveries by an instance that the tests do not watch, which costs more than what is measured.
const { config } = readConfig({
  DATABASE_URL: service.database.servingUrl!,
  ROWGATE_WEBHOOK_HOSTS: receiver.host,
});
const observe = () => {};
const database = openDatabase(config!, observe);
const changes = openChanges(database, { observe, tenantSetting: undefined });
const hooks = openWebhookService({
  config: config!,
  database,
  catalogue: service.catalogue.current,
  changes,
  observe,
  fetch: receiver.fetch,
});
hooks.start();
const sql = postgres(service.database.url!, { max: 4, onnotice: () => {} });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
await pause(1500);

/** Waits until the receiver has the change of a row to a value, or a later one. */
async function awaitChange(tenant: number, id: number, n: number): Promise<void> {
  const has = () =>
    receiver.at(`/${tenant}`).some(({ body }) =>
      body.data.changes.some(({ key, record }) => key["id"] === id && Number(record?.["n"]) >= n)
    );
  while (!has()) await pause(5);
}

const delays: number[] = [];
for (let n = 1; n <= 20; n++) {
  const id = n;
  await sql`update parcels set n = ${n} where id = ${id}`;
  const committedMs = performance.now();
  await awaitChange(1 + id % tenants, id, n);
  delays.push(performance.now() - committedMs);
  await pause(200 + Math.random() * 200);
}
const sorted = delays.toSorted((a, b) => a - b);
console.log(
  `at rest, from commit to message: median ${sorted[10]!.toFixed(0)} ms, most ${
    sorted.at(-1)!.toFixed(0)
  } ms`,
);

/** What has arrived at all receivers. */
function count(): { readonly messages: number; readonly amount: number } {
  let messages = 0;
  let amount = 0;
  for (let tenant = 1; tenant <= tenants; tenant++) {
    for (const { body } of receiver.at(`/${tenant}`)) {
      messages++;
      amount += body.data.changes.length;
    }
  }
  return { messages, amount };
}

/** Works, waits until the receiver has got it, and prints what arrived. */
async function report(
  what: string,
  work: () => Promise<unknown>,
  hasAll: (amount: number) => boolean,
): Promise<void> {
  const before = count();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const writtenMs = performance.now();
  while (!hasAll(count().amount - before.amount)) await pause(20);
  const endedMs = performance.now();
  const after = count();
  const { user, system } = process.cpuUsage(cpuBefore);
  const messages = after.messages - before.messages;
  const elapsed = (endedMs - startedMs) / 1000;
  console.log(
    `${what}: ${after.amount - before.amount} changes in ${messages} messages, ` +
      `${(messages / elapsed).toFixed(0)} messages/s, the last ${
        (endedMs - writtenMs).toFixed(0)
      } ms after the last commit, ${
        ((user + system) / 1000 / messages).toFixed(1)
      } ms CPU of this ` +
      "process for each, receiver and writers included",
  );
}

/** The last of the single updates has reached each tenant. */
function hasLast(): boolean {
  return Array.from({ length: tenants }, (_, place) => receiver.at(`/${place + 1}`)).every((got) =>
    got.some(({ body }) =>
      body.data.changes.some(({ record }) => Number(record?.["n"]) >= 1_000_000)
    )
  );
}

await report(`${tenants} webhooks, single updates`, async () => {
  const untilMs = performance.now() + seconds * 1000;
  await Promise.all(Array.from({ length: 4 }, async (_, place) => {
    for (let n = 1000; performance.now() < untilMs; n++) {
      await sql`update parcels set n = ${n} where id = ${1 + (place * 13 + n) % rows}`;
    }
  }));
  await sql`update parcels set n = 1000000 where id > ${rows - tenants}`;
}, hasLast);
await report(`${tenants} webhooks, one update of all rows`, async () => {
  await sql`update parcels set n = 2000000`;
}, (amount) => amount >= rows);
await sql.end();
changes.close();
await hooks.close(1000);
await database.close(1000);
await service.close();
await receiver.close();
await cluster.stop();
