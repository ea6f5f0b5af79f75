import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import type { ReceivedResponse } from "../../support/send.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { openSecondInstance, type SecondInstance } from "../records/second_instance.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { makeTemplates } from "../../support/templates.ts";

/** A service whose queries go to a standby, and both servers. */
export interface ReplicatedService {
  readonly service: TestService;
  /** Another instance, in this process. */
  readonly other: SecondInstance;
  readonly primary: Cluster;
  readonly standby: Cluster;
  /** Has the standby apply what it receives so many milliseconds late. */
  readonly delay: (ms: number) => Promise<void>;
  /** Keeps the standby from applying anything while the body runs, however that ends. */
  readonly whilePaused: <T>(body: () => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Opens another service on the same database. */
export async function openReplicated(
  environment: Record<string, string> = {},
  now?: () => number,
): Promise<ReplicatedService> {
  const primary = await startCluster();
  await makeTemplates(primary.url);
  const standby = await startStandby(primary);
  const variables: Record<string, string> = { ...environment };
  let databaseUrl = "";
  const service = await createTestService("real", {
    cluster: primary.url,
    environment: variables,
    ...(now && { now }),
    route: (url) => {
      const { username, password, pathname } = new URL(url);
      const [first, second] = [primary, standby].map((cluster) => new URL(cluster.url).host);
      const login = `postgres://${username}:${password}@`;
      variables["DATABASE_READ_URL"] = `${login}${second}${pathname}`;
      const role = "target_session_attrs=read-write";
      databaseUrl = `${login}${first},${second}${pathname}?${role}`;
      return Promise.resolve(databaseUrl);
    },
  });
  const { database, tokens } = service;
  // Its rows are not watched: it also asks while the primary is gone.
  const unwatched = {
    ...database,
    rows: { ...database.rows, start: () => Promise.resolve(() => {}) },
  };
  const other = openSecondInstance(unwatched, tokens["a"]!, {
    DATABASE_URL: databaseUrl,
    ...variables,
  }, now && { now });
  await awaitReplay(primary, standby);

  async function tell(...statements: readonly string[]): Promise<void> {
    const sql = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
    for (const statement of statements) await sql.unsafe(statement);
    await sql.end();
  }

  return {
    service,
    other,
    primary,
    standby,
    delay: (ms) =>
      tell(`alter system set recovery_min_apply_delay = '${ms}ms'`, "select pg_reload_conf()"),
    async whilePaused(body) {
      await tell("select pg_wal_replay_pause()");
      try {
        return await body();
      } finally {
        await tell("select pg_wal_replay_resume()");
      }
    },
    close: async () => {
      await other.close().catch(() => {});
      await service.close().catch(() => {});
      await standby.stop();
      await primary.stop();
    },
  };
}

/** Writes the title of a deal. */
export function write(
  { send }: Pick<SecondInstance, "send">,
  { fid, title, token }: { readonly fid: number; readonly title: string; readonly token?: string },
): Promise<ReceivedResponse> {
  return send("PATCH", "/integration/tables/deals/records/single", {
    body: { filters: { fid }, fields: { title } },
    ...(token === undefined ? {} : { token }),
  });
}

/** Reads the title of a deal, and gives the response with it. */
export async function read(
  { send }: Pick<SecondInstance, "send">,
  { fid, position, token }: {
    readonly fid: number;
    readonly position?: string | null | undefined;
    readonly token?: string;
  },
): Promise<ReceivedResponse & { readonly title: string | undefined }> {
  const response = await send("POST", "/integration/tables/deals/query", {
    body: {
      select: ["title"],
      filters: { and: [{ field: "fid", op: "eq", value: fid }] },
    },
    headers: position == null ? {} : { "rowgate-position": position },
    ...(token === undefined ? {} : { token }),
  });
  const { records } = response.body as { readonly records?: readonly { title: string }[] };
  return { ...response, title: records?.[0]?.title };
}
