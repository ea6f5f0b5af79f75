import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import type { Finding } from "../../../src/cli/doctor/diagnosis.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { makeClock } from "../../support/moved_clock.ts";
import { createTestService, IS_REMOTE, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { makeTemplates } from "../../support/templates.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { openDatabase, probeDatabase } from "../../../src/database/postgres/open_database.ts";
import { configure } from "../database/open_subject.ts";
import { runRowgate } from "../cli/run_rowgate.ts";
import { readDeals, sleep, writeTitle } from "./load.ts";

/** What is remembered of a token is forgotten by then. */
const FORGOTTEN_MS = 5000;

/** Makes a route to the database of a service through several servers, in this order. */
export function routeThrough(clusters: readonly Pick<Cluster, "url">[], role: string) {
  return (url: string): Promise<string> => {
    const { username, password, pathname } = new URL(url);
    const hosts = clusters.map((cluster) => new URL(cluster.url).host).join(",");
    return Promise.resolve(`postgres://${username}:${password}@${hosts}${pathname}?${role}`);
  };
}

function listWarnings({ observations }: TestService): readonly string[] {
  return observations.flatMap((one) => one.kind === "warning" ? [one.message] : []);
}

describe("two primaries", () => {
  let primary: Cluster;
  let standby: Cluster;
  let stranger: Cluster;
  /** It takes the first that accepts writes; the standby comes first. */
  let writing: TestService;
  /** It takes any server, and the standby comes first. */
  let reading: TestService;
  const clock = makeClock();

  before(async () => {
    primary = await startCluster();
    await makeTemplates(primary.url);
    standby = await startStandby(primary);
    stranger = await startCluster({ stranger: true });
    await makeTemplates(stranger.url);
    const clusters = [standby, primary, stranger];
    writing = await createTestService("real", {
      cluster: primary.url,
      route: routeThrough(clusters, "target_session_attrs=read-write"),
    });
    reading = await createTestService("real", {
      cluster: primary.url,
      route: routeThrough([standby, primary], "target_session_attrs=any"),
      now: clock.now,
    });
    await awaitReplay(primary, standby);
    const there = connect(stranger);
    await there`create database ${there(new URL(writing.database.url!).pathname.slice(1))}`;
    await there.end();
  });
  after(async () => {
    await reading?.close().catch(() => {});
    await writing?.close().catch(() => {});
    for (const cluster of [standby, primary, stranger]) await cluster?.stop();
  });

  function connect(cluster: Cluster, path = "/postgres") {
    return postgres(`${cluster.url}${path}`, { max: 1, onnotice: () => {} });
  }

  /** Keeps the standby from applying anything while the body runs, then lets it catch up. */
  async function whilePaused(body: () => Promise<void>): Promise<void> {
    const there = connect(standby);
    try {
      await there`select pg_wal_replay_pause()`;
      await body();
    } finally {
      await there`select pg_wal_replay_resume()`;
      await there.end();
    }
    await awaitReplay(primary, standby);
  }

  it("do not exist while one is a standby: tokens and catalogue come from the primary [M6]", async () => {
    await whilePaused(async () => {
      const token = await reading.issue({ name: "late" });
      const ask = async () => (await reading.send("GET", "/integration/token", { token })).status;
      assertEquals(await ask(), 200);
      await reading.database.admin`
        update rowgate.tokens set revoked_at = now() where name = 'late'`;
      clock.move(FORGOTTEN_MS);
      assertEquals(await ask(), 401);
    });
  });

  it("are needed for tokens and the catalogue: no standby stands in for those [M28] [A8]", async () => {
    const token = await reading.issue({ name: "ended" });
    await awaitReplay(primary, standby);
    await whilePaused(() => askWithout(token));
  });

  /** Asks with a token that is revoked, and whose primary then is away. */
  async function askWithout(token: string): Promise<void> {
    const { admin } = reading.database;
    await admin.unsafe(`create table newest (id int4 primary key, tenant_id int4 not null);
      grant select on newest to rowgate_app`);
    const ask = async (token?: string) =>
      (await reading.send("POST", "/integration/tables/newest/query", { token, body: {} })).status;
    await waitUntil(async () => await ask(token) === 200);
    await admin`update rowgate.tokens set revoked_at = now() where name = 'ended'`;
    await primary.whileHalted("fast", async () => {
      await waitUntil(async () => (await reading.send("GET", "/readyz")).status === 200);
      await reading.catalogue.refresh(await reading.catalogue.current(), { reason: "test" })
        .catch(() => {});
      assertEquals((await reading.catalogue.current()).tables.has("newest"), true);
      clock.move(FORGOTTEN_MS);
      // Whether a token is valid cannot be known: both wait for a primary.
      for (const each of [token, undefined]) {
        const path = "/integration/tables/deals/query";
        const { status, headers } = await reading.send("POST", path, { token: each, body: {} });
        assertEquals([status, headers.get("retry-after")], [503, "1"]);
      }
    });
    await waitUntil(async () => await ask() === 200);
    assertEquals(await ask(token), 401);
  }

  it("are not needed for reads: the standby stands in for a primary that is away [M6]", async () => {
    const token = await reading.issue({ name: "new" });
    await awaitReplay(primary, standby);
    const read = async () => (await readDeals(reading, token)).status;
    assertEquals(await read(), 200);
    await primary.whileHalted("immediate", async () => {
      await waitUntil(async () => await read() === 200);
      assertEquals((await writeTitle(reading, 6, "never")).status, 503);
    });
    await waitUntil(async () => (await writeTitle(reading, 6, "after")).status === 200);
    await awaitReplay(primary, standby);
  });

  /** What doctor finds of the servers that a URL names, in their order. */
  async function examineServers(hosts: readonly Pick<Cluster, "url">[]): Promise<string[][]> {
    const url = await routeThrough(hosts, "target_session_attrs=any")(writing.database.servingUrl!);
    const { out } = await runRowgate(["doctor", "--json"], { DATABASE_URL: url });
    const { checks } = JSON.parse(out) as {
      readonly checks: readonly { readonly findings: readonly Finding[] }[];
    };
    return checks.flatMap(({ findings }) => findings)
      .filter(({ id }) => id.startsWith("server:"))
      .map(({ id, level, what }) => [id.slice("server:".length), level, what]);
  }

  const hostOf = ({ url }: Pick<Cluster, "url">) => new URL(url).host;

  it("are not reported by doctor where one is a standby of the other [R64]", async () => {
    assertEquals(await examineServers([standby, primary]), []);
    assertEquals(await examineServers([primary, { url: "postgres://127.0.0.1:1" }, stranger]), [
      ["127.0.0.1:1", "warning", "127.0.0.1:1 of DATABASE_URL does not answer"],
      [
        hostOf(stranger),
        "error",
        `${hostOf(stranger)} of DATABASE_URL holds another database than the one that is served`,
      ],
    ]);
    // A server that is named twice is one primary.
    assertEquals(await examineServers([primary, primary]), []);
  });

  it("are never both written to: the old one is rejected, and so is one with other data [M4] [M5]", async () => {
    await waitUntil(async () => (await writeTitle(writing, 6, "before")).status === 200);
    await awaitReplay(primary, standby);
    const { pathname } = new URL(writing.database.url!);
    const [old, promoted] = [connect(primary, pathname), connect(standby, pathname)];
    await promoted`select pg_promote(true)`;
    // One of the sessions ends, and the next one is opened on the first host that accepts writes.
    await old`select pg_terminate_backend(min(pid)) from pg_stat_activity
      where usename = 'rowgate_app' and datname = current_database()`;
    await waitUntil(async () => {
      await writeTitle(writing, 6, "after");
      const [row] = await promoted`select title from deals where fid = 6`;
      return row!.title === "after";
    });
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => writeTitle(writing, 11 + index, "after")),
    );
    assertEquals(new Set(statuses.map(({ status }) => status)), new Set([200]));
    const count = "select count(*)::int4 as n from deals where title = 'after' and fid > 10";
    const [[there], [here]] = [await promoted.unsafe(count), await old.unsafe(count)];
    assertEquals([there!.n, here!.n], [40, 0]);

    const [one, other] = [primary, standby].map(hostOf);
    assertEquals(await examineServers([primary, standby]), [
      [one, "error", `${one} of DATABASE_URL accepts writes, and so does ${other}`],
    ]);

    await Promise.all([old.end(), promoted.end()]);
    await standby.whileHalted("fast", async () => {
      await sleep(500);
      const refused = await writeTitle(writing, 6, "never");
      assertEquals(refused.status, 503, refused.text);
      assertEquals((await readDeals(writing)).status, 503);
      if (IS_REMOTE) return;
      // The third host has other data.
      for (
        const expected of [
          "it is on timeline 1, and a primary on timeline 2 was seen",
          "it holds another database than the one that is served",
        ]
      ) {
        await waitUntil(async () => {
          assertEquals((await writeTitle(writing, 6, "never")).status, 503);
          return listWarnings(writing).join("\n").includes(expected);
        });
      }
    });
    await waitUntil(async () => (await writeTitle(writing, 6, "again")).status === 200);
  });

  it("are distinguished by an instance that starts, which writes only to the new one [M32] [DB34]", async () => {
    const { pathname } = new URL(writing.database.url!);
    const [old, promoted] = [connect(primary, pathname), connect(standby, pathname)];
    const readTitle = async (sql: postgres.Sql) =>
      (await sql`select title from deals where fid = 6`)[0]!["title"];
    const before = await readTitle(old);
    try {
      for (const role of ["any", "primary", "read-write"]) {
        const route = routeThrough([primary, standby], `target_session_attrs=${role}`);
        const databaseUrl = await route(writing.database.url!);
        const database = openDatabase(configure({ databaseUrl }), () => {});
        try {
          const write = { write: true } as const;
          const title = `written with ${role}`;
          await database.run((sql) => sql`update deals set title = ${title} where fid = 6`, write);
          assertEquals([await readTitle(promoted), await readTitle(old)], [title, before]);
        } finally {
          await database.close(1000);
        }
      }
    } finally {
      await Promise.all([old.end(), promoted.end()]);
    }
  });

  it("cause a warning if they are on one timeline [M32]", async () => {
    // Its data are a copy, so it is the same database.
    const rival = await startCluster();
    const warnings: string[] = [];
    try {
      const route = routeThrough([rival, primary], "target_session_attrs=any");
      const databaseUrl = await route(`${rival.url}/postgres`);
      const database = openDatabase(configure({ databaseUrl }), (observed) => {
        if (observed.kind === "warning") warnings.push(observed.message);
      });
      assertEquals(await probeDatabase(database), undefined);
      await database.close(1000);
      assertEquals(warnings, [
        `${hostOf(rival)} and ${
          hostOf(primary)
        } of DATABASE_URL both accept writes on timeline 1; ` +
        "the first is used, stop the one that is not the primary",
      ]);
    } finally {
      await rival.stop();
    }
  });
});
