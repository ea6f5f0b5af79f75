import { assertEquals } from "@std/assert";
import { createApp } from "../../../src/app.ts";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import type { TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openFollower } from "./follower.ts";
import { openReader } from "./reader.ts";

/** Tables with the feeds of a scenario. */
export const SCENARIO_TABLES: readonly string[] = ["shelves", "days"];

/** The setting that its policies read. */
export const SCENARIO_SETTING = "app.tenant_id";

/** Makes them: under row level security that is forced, and with rights on columns for the service. */
export const SCENARIO_SCHEMA = `
  create table shelves (id int4 primary key, tenant_id int4 not null, name text, at timestamptz);
  create table days (id int4, tenant_id int4 not null, day date, n int4 default 0, primary key (id, day))
    partition by range (day);
  create table days_1 partition of days for values from ('2026-01-01') to ('2026-02-01');
  create table days_2 partition of days for values from ('2026-02-01') to ('2026-03-01');
  alter table shelves enable row level security;
  alter table shelves force row level security;
  create policy own on shelves
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::int4);
  alter table days enable row level security;
  alter table days force row level security;
  create policy own on days
    using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::int4);
  grant select (id, tenant_id, name, at) on shelves to rowgate_app;
  grant select (id, tenant_id, day, n) on days to rowgate_app;`;

/** Each is a transaction; after each of them the copies are compared. */
const STEPS: readonly (readonly [table: string, statement: string])[] = [
  [
    "shelves",
    "insert into shelves select n, 1 + n % 2, 'shelf', now() from generate_series(1, 2500) n",
  ],
  ["shelves", "update shelves set name = 'one' where id = 7"],
  ["shelves", "update shelves set name = name || '.' where id % 3 = 0"],
  ["shelves", "update shelves set id = id + 10000, tenant_id = 3 - tenant_id where id < 10"],
  [
    "shelves",
    `do $$ begin
      begin
        delete from shelves where id = 100;
        raise exception 'rolled back';
      exception when others then
        update shelves set name = 'kept' where id = 101;
      end;
    end $$`,
  ],
  ["shelves", "delete from shelves where id between 20 and 2000"],
  [
    "shelves",
    "copy shelves (id, tenant_id, name) from program 'printf \"1\\t1\\tcopied\\n2\\t2\\tcopied\\n\"'",
  ],
  [
    "shelves",
    `insert into shelves values (1, 1, 'again'), (3, 1, 'new')
      on conflict (id) do update set name = excluded.name`,
  ],
  ["shelves", "truncate shelves"],
  ["shelves", "insert into shelves values (5, 1, 'after')"],
  [
    "days",
    "insert into days select n, 1 + n % 2, date '2026-01-01' + n % 55 from generate_series(1, 300) n",
  ],
  ["days", "update days_1 set n = 1 where id % 5 = 0"],
  ["days", "update days set day = day + 40 where day < '2026-01-10'"],
  [
    "days",
    "create table days_3 partition of days for values from ('2026-03-01') to ('2026-04-01')",
  ],
  ["days", "insert into days_3 values (900, 1, '2026-03-03'), (901, 2, '2026-03-03')"],
  ["days", "update days set n = n + 1, tenant_id = 3 - tenant_id where id > 890"],
  ["days", "truncate days_2"],
  ["days", "delete from days where n = 1"],
];

/**
 * Follows the tables as two tenants while rows are written in every way, and compares each copy with the
 * table after each of them. Gives how often a client had to begin again.
 */
export async function followScenario(service: TestService): Promise<number> {
  let begun = 0;
  for (const table of SCENARIO_TABLES) {
    const columns = ["id", "tenant_id", ...(table === "shelves" ? ["name"] : ["n", "day"])];
    const followers = [1, 2].map((tenant) => openFollower(service, { table, tenant, columns }));
    for (const { catchUp } of followers) await catchUp();
    for (const [written, statement] of STEPS) {
      if (written !== table) continue;
      await service.database.admin.unsafe(statement);
      for (const { compare } of followers) await compare(`after: ${statement}`);
    }
    begun += followers.reduce((sum, follower) => sum + follower.begun(), 0);
  }
  await waitForChange(service);
  return begun;
}

/** More than there are connections to Postgres, in the pool and behind a pooler. */
const WAITING = 20;

/** Clients that wait are answered once there is something, and take no connection until then. */
async function waitForChange(service: TestService): Promise<void> {
  const reader = openReader(service);
  const { cursor } = await reader.read("shelves", "now");
  const stream = await openStream(service);
  try {
    await stream.readUntil("event: caught_up");
    const waiting = Array.from(
      { length: WAITING },
      () => reader.ask("shelves", cursor, "&wait=20"),
    );
    await waitUntil(() =>
      Promise.resolve(
        service.observations.some((each) =>
          each.kind === "changes_waiting" && each.clients === WAITING
        ),
      )
    );
    assertEquals((await reader.read("shelves", cursor)).changes, []);
    await service.database.admin.unsafe("insert into shelves values (70, 1, 'waited for')");
    for (const { body } of await Promise.all(waiting)) {
      assertEquals((body["changes"] as { key: object }[]).map(({ key }) => key), [{ id: 70 }]);
    }
    await stream.readUntil('"key":{"id":70}');
  } finally {
    await stream.cancel();
  }
}

/** Opens a stream of what changes from now on, from a handler that may answer before all is known. */
async function openStream({ serving, catalogue, tokens }: TestService) {
  const observe = () => {};
  const changes = openChanges(serving, { observe, tenantSetting: SCENARIO_SETTING });
  const { config } = readConfig({ ROWGATE_TENANT_SETTING: SCENARIO_SETTING });
  const app = createApp({
    ...{ config: config!, database: serving, catalogue, tokens: createTokenStore(serving) },
    ...{ observe, metrics: createMetrics(), changes },
  });
  const path = "/integration/tables/shelves/changes?since=now";
  const headers = { authorization: `Bearer ${tokens.a}`, accept: "text/event-stream" };
  const response = await app(new Request(`http://127.0.0.1${path}`, { headers }));
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const read = async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
    }
  };
  const ended = read();
  return {
    readUntil: (expected: string) => waitUntil(() => Promise.resolve(text.includes(expected))),
    cancel: async () => {
      await reader.cancel();
      await ended;
      changes.close();
    },
  };
}
