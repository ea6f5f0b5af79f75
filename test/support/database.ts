import postgres from "postgres";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { connectEmbedded } from "./connect_embedded.ts";
import { type Embedded, openEmbedded } from "../../src/database/embedded/embedded_postgres.ts";
import { ACCESS } from "./access.ts";
import { clusterUrl, embeddedTemplate, hasOtherCluster } from "./shared_databases.ts";
import { servingRuntime } from "./serving_runtime.ts";
import { guardRows, type RowGuard } from "./invariants/row_guard.ts";
import { trackAdmin } from "./invariants/track_admin.ts";

/** A cluster of Postgres, or PGlite in this process. */
export type DatabaseKind = "real" | "embedded";

/** A database of one test file. */
export interface TestDatabase {
  readonly kind: DatabaseKind;
  /** URL of the superuser; undefined when embedded. */
  readonly url: string | undefined;
  /** URL of the role with the least rights; undefined when embedded. */
  readonly servingUrl: string | undefined;
  readonly embedded: Embedded | undefined;
  /** The superuser's client; what it writes is not taken for a write of the service. */
  readonly admin: Sql;
  /** True where the template has the schema `rowgate` already, and the serving role its rights on it. */
  readonly served: boolean;
  /** Finds rows that the service should not have changed. */
  readonly rows: RowGuard;
  readonly drop: () => Promise<void>;
}

/** What a test database begins with. */
export type Template = "fixture" | "empty";

/** The kinds that this run tests: an embedded one has no other roles, and no other process reaches it. */
export const DATABASE_KINDS: readonly DatabaseKind[] =
  servingRuntime() === undefined && ACCESS === undefined ? ["real", "embedded"] : ["real"];

/** What a test database may have besides its template. */
export interface DatabaseOptions {
  /** URL of a cluster other than that of the run. */
  readonly cluster?: string | undefined;
  /** True for a database that a service is about to serve: see {@link TestDatabase.served}. */
  readonly served?: boolean;
}

/** Makes a database for one test file. */
export async function createTestDatabase(
  kind: DatabaseKind,
  template: Template = "fixture",
  options: DatabaseOptions = {},
): Promise<TestDatabase> {
  const made = kind === "real"
    ? await cloneReal(template, options)
    : await openMemory(template, options);
  if (made.served) await renewSecret(made.admin);
  const rows = guardRows(made);
  return {
    ...made,
    rows,
    admin: trackAdmin(made.admin, rows),
    drop: async () => {
      await rows.close();
      await made.drop();
    },
  };
}

/** No two databases have the same secret, as those that are made of one template would. */
async function renewSecret(admin: Sql): Promise<void> {
  await admin`update rowgate.secrets
    set secret = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())`;
}

/** A database whose rows are not guarded yet. */
type MadeDatabase = Omit<TestDatabase, "rows">;

async function cloneReal(
  template: Template,
  options: DatabaseOptions,
): Promise<MadeDatabase> {
  const cluster = options.cluster ?? await clusterUrl();
  // Other clusters have only the plain templates.
  const served = options.served === true && options.cluster === undefined && !hasOtherCluster();
  const name = `t_${crypto.randomUUID().replaceAll("-", "")}`;
  const access = ACCESS === undefined || ACCESS === "plain" ? "" : `_${ACCESS}`;
  await clone(cluster, name, `template_${template}${access}${served ? "_served" : ""}`);
  const url = `${cluster}/${name}`;
  const serving = new URL(url);
  serving.username = serving.password = "rowgate_app";
  const admin = postgres(url, { max: 4, onnotice: () => {}, connection: { TimeZone: "UTC" } });
  return {
    kind: "real",
    url,
    servingUrl: serving.href,
    embedded: undefined,
    admin,
    served,
    drop: async () => {
      await admin.end({ timeout: 1 });
      await openServer(cluster).unsafe(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Copies the files of the template, which costs half of what Postgres does by default since 15. */
async function clone(cluster: string, name: string, template: string): Promise<void> {
  const server = openServer(cluster);
  const [found] = await server<[{ copies: boolean }]>`
    select current_setting('server_version_num')::int4 >= 150000 as copies`;
  const strategy = found.copies ? " strategy file_copy" : "";
  // Two clones of one template at the same time can fail with "is being accessed by other users".
  for (let attempt = 1;; attempt++) {
    const failed = await server.unsafe(`create database ${name} template ${template}${strategy}`)
      .then(() => undefined, (error) => error);
    if (failed === undefined) return;
    if (attempt === 20 || failed.code !== "55006") throw failed;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Sessions that make and drop databases, by cluster: as a service ends, the next one often begins. */
const servers = new Map<string, Sql>();

function openServer(cluster: string): Sql {
  const open = servers.get(cluster) ??
    postgres(`${cluster}/postgres`, {
      max: 1,
      idle_timeout: 20,
      fetch_types: false,
      onnotice: () => {},
    });
  servers.set(cluster, open);
  return open;
}

async function openMemory(template: Template, options: DatabaseOptions): Promise<MadeDatabase> {
  const served = options.served === true && template === "fixture";
  const load = await embeddedTemplate(served ? "served_fixture" : template);
  const embedded = await openEmbedded({ load });
  const admin = connectEmbedded(embedded);
  return {
    kind: "embedded",
    url: undefined,
    servingUrl: undefined,
    embedded,
    admin,
    served,
    drop: async () => {
      await admin.end({ timeout: 1 });
      await embedded.close();
    },
  };
}
