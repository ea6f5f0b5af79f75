import { type CurrentCatalogue, followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { type HostRule, parseHostRule } from "../../../src/server/config/webhook_hosts.ts";
import { migrateSchema } from "../../../src/database/schema/migrate_schema.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { createToken } from "../../../src/access/tokens/manage.ts";
import type { Access } from "../../../src/access/tokens/token.ts";
import {
  type Delivering,
  type DeliveringOptions,
  keepDelivering,
} from "../../../src/feeds/webhooks/keep_delivering.ts";
import { insertWebhook } from "../../../src/feeds/webhooks/store.ts";
import { createTestDatabase, type DatabaseKind } from "../../support/database.ts";
import { openReceiver, type Receiver } from "../../support/receiver.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openSubject } from "../database/open_subject.ts";
import { type MemorySource, openMemorySource } from "./memory_source.ts";

/** A token of a tenant with the scopes that webhooks need. */
export interface Holder {
  readonly access: Access;
  readonly token: string;
}

/** A webhook of a test, and where its messages arrive. */
export interface Hook {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
}

/** A row of `rowgate.webhooks`. */
export type HookRow = Record<string, unknown>;

/** Webhooks on a database, a receiver, and a feed in this process. */
export type Hooks = Awaited<ReturnType<typeof openHooks>>;

/** How long the tests let a receiver take. */
export const TEST_TIMEOUT_MS = 500;

/** Makes a database with the fixture and the schema `rowgate`, and a receiver. */
export async function openHooks(kind: DatabaseKind = "real") {
  const test = await createTestDatabase(kind);
  const { database } = openSubject(test);
  await migrateSchema(database);
  const observations: Observation[] = [];
  const catalogue: CurrentCatalogue = followDatabase(database, {
    schemas: ["public"],
    tenantColumn: "tenant_id",
    policy: EMPTY_POLICY,
    observe: () => {},
  });
  const receiver: Receiver = await openReceiver();
  const source: MemorySource = openMemorySource();
  const hosts: readonly HostRule[] = [parseHostRule(receiver.host)!];
  const instances = new Set<Delivering>();
  let paths = 0;

  async function issue(tenant = "1"): Promise<Holder> {
    const created = await createToken(database, {
      tenant,
      name: null,
      scopes: ["query", "webhooks"],
      tables: null,
      expiry: { kind: "never" },
    });
    const { record, token } = created!;
    const { id: tokenId, name, scopes, tables, expiresAt } = record;
    return { token, access: { tokenId, name, tenant, scopes, tables, expiresAt } };
  }

  /** Creates a webhook of `deals`, unless other tables are named, at a path of its own. */
  async function hook(
    holder: Holder,
    { tables = ["deals"], url, schema = "public" }: {
      tables?: readonly string[];
      url?: string;
      schema?: string;
    } = {},
  ): Promise<Hook> {
    const path = `/${++paths}`;
    const positions = new Map<string, string>();
    const current = await catalogue.current();
    for (const name of tables) {
      const table = current.tables.get(name) ?? { name } as never;
      positions.set(name, await source.begin(holder.access, table));
    }
    const { webhook, secret } = await insertWebhook(database, holder.access, {
      url: url ?? `${receiver.address}${path}`,
      tables,
      positions,
      schema,
    });
    receiver.verify(path, secret);
    for (const instance of instances) instance.wake();
    return { id: webhook.id, path, secret };
  }

  /** Starts an instance that delivers, in this process. */
  function start(options: Partial<DeliveringOptions> = {}): Delivering {
    const instance = keepDelivering({
      schema: "public",
      database,
      catalogue: catalogue.current,
      source,
      hosts,
      observe: (observation) => observations.push(observation),
      fetch: receiver.fetch,
      random: () => 0,
      postTimeoutMs: TEST_TIMEOUT_MS,
      ...options,
    });
    instances.add(instance);
    return instance;
  }

  async function row({ id }: Pick<Hook, "id">): Promise<HookRow> {
    const [found] = await test.admin`
      select *, extract(epoch from due_at - clock_timestamp())::float8 as due_in
      from rowgate.webhooks where id = ${id}`;
    return found ?? {};
  }

  return {
    test,
    database,
    catalogue,
    receiver,
    source,
    hosts,
    observations,
    issue,
    hook,
    start,
    row,
    /** Waits until the row of a webhook is so. */
    until: (hook: Hook, is: (row: HookRow) => boolean) =>
      waitUntil(async () => is(await row(hook))),
    /** Waits until a webhook has received so many messages. */
    messages: async ({ path }: Hook, count: number) => {
      await waitUntil(() => Promise.resolve(receiver.at(path).length >= count));
      return receiver.at(path);
    },
    /** Lets time pass for a webhook: what it waits for comes sooner by so many seconds. */
    pass: async ({ id }: Hook, seconds: number) => {
      await test.admin`update rowgate.webhooks
        set due_at = due_at - ${seconds}::float8 * interval '1 second' where id = ${id}`;
      for (const instance of instances) instance.wake();
    },
    stop: async (instance: Delivering) => {
      instances.delete(instance);
      await instance.close(5000);
    },
    /** Stops all instances and deletes all webhooks, so that the next test begins with none. */
    clear: async () => {
      for (const instance of instances) await instance.close(5000);
      instances.clear();
      await test.admin`delete from rowgate.webhooks`;
    },
    close: async () => {
      for (const instance of instances) await instance.close(5000);
      catalogue.close();
      await receiver.close();
      await database.close(1000);
      await test.drop();
    },
  };
}
