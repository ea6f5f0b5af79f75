// What clients of several instances see while their database breaks in several ways.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import process from "node:process";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { findPort } from "../support/find_port.ts";
import {
  findLoadBalancer,
  type LoadBalancer,
  startLoadBalancer,
} from "../support/load_balancer.ts";
import { findPooler, type Pooler, startPooler } from "../support/pooler.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { awaitReplay, startStandby } from "../support/standby.ts";
import { makeTemplates } from "../support/templates.ts";
import { waitUntil } from "../support/wait_until.ts";
import { readDocument } from "../docs/blocks.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

const CLIENTS = 6;
const PAUSE_MS = 20;
/** What it responds then. */
const NO_SERVER = /`(http-error [^`]+)`/.exec(await readDocument("docs/operators.md"))![1]!;

const [balancing, pooling] = await Promise.all([findLoadBalancer(), findPooler()]);
if (balancing === undefined && process.env.CI === undefined) {
  console.log("haproxy is not installed: broken databases behind a load balancer are not tested");
} else {
  describe("four instances behind haproxy whose database breaks", () => {
    let primary: Cluster;
    let standby: Cluster;
    let database: ServingDatabase;
    let pooler: Pooler | undefined;
    let poolerPort: number;
    let balancer: LoadBalancer;
    let running = true;
    let clients: Promise<void>[];
    const instances: RunningProcess[] = [];
    /** Responses, or what came instead, in the order in which they came. */
    const seen: string[] = [];
    /** The last note of each deal that was acknowledged. */
    const acknowledged = new Map<number, number>();

    before(async () => {
      primary = await startCluster({ settings: { synchronous_commit: "on" } });
      await makeTemplates(primary.url);
      standby = await startStandby(primary);
      database = await createServingDatabase({ cluster: primary.url });
      await awaitReplay(primary, standby);
      poolerPort = await findPort();
      await openPooler();
      const ports = await Promise.all([0, 1, 2, 3].map(findPort));
      for (const [place, port] of ports.entries()) {
        instances[place] = startCommand(RUNTIMES[place % RUNTIMES.length]!, ["serve"], {
          DATABASE_URL: urlOf(place),
          PORT: String(port),
          ROWGATE_PREPARE: "auto",
          ROWGATE_POOL_SIZE: "4",
        });
        await awaitAddress(instances[place]!);
      }
      balancer = await startLoadBalancer(balancing!, ports, NO_SERVER);
      clients = Array.from({ length: CLIENTS }, (_, index) => keepAsking(10 + index));
      await waitUntil(areWell);
    });
    after(async () => {
      running = false;
      await Promise.all(clients ?? []);
      for (const instance of instances) instance.send("SIGKILL");
      await balancer?.stop();
      await pooler?.stop();
      await database?.drop();
      for (const cluster of [standby, primary]) await cluster?.stop();
    });

    /** The last two behind PgBouncer, the others with both servers. */
    function urlOf(place: number): string {
      const url = new URL(database.servingUrl);
      if (place >= 2 && pooler !== undefined) return pooler.through(url.href);
      const hosts = [primary, standby].map((cluster) => new URL(cluster.url).host).join(",");
      return `postgres://${url.username}:${url.password}@${hosts}${url.pathname}`;
    }

    async function openPooler(): Promise<void> {
      if (pooling === undefined) return;
      pooler = await startPooler(pooling, database.servingUrl, {
        connections: 8,
        port: poolerPort,
      });
    }

    async function keepAsking(fid: number): Promise<void> {
      for (let round = 0; running; round++) {
        const isUpdate = round % 2 === 0;
        const body = isUpdate
          ? { filters: { fid }, fields: { note: `${round}` } }
          : { filters: { and: [{ field: "fid", op: "eq", value: fid }] }, select: ["note"] };
        const path = `/integration/tables/deals/${isUpdate ? "records/single" : "query"}`;
        const what = await fetch(balancer.address + path, {
          method: isUpdate ? "PATCH" : "POST",
          headers: {
            "authorization": `Bearer ${database.token}`,
            "content-type": "application/json",
          },
          body: JSON.stringify(body),
        }).then(describeResponse, String);
        seen.push(what);
        if (isUpdate && what === "200") acknowledged.set(fid, round);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }

    const areWell = () =>
      Promise.resolve(
        seen.length > 5 * CLIENTS && seen.slice(-5 * CLIENTS).every((what) => what === "200"),
      );

    /** Breaks something, waits until all is well, and looks at what came meanwhile. */
    async function suffer(breakIt: () => Promise<void>): Promise<void> {
      const from = seen.length;
      await breakIt();
      try {
        await waitUntil(async () => seen.length > from + 5 * CLIENTS && await areWell());
      } catch (error) {
        const up = await Promise.all(instances.map((_, place) => balancer.isUp(place)));
        throw new Error(`${error}; up: ${up}; seen: ${seen.slice(from).slice(-10 * CLIENTS)}`);
      }
      const others = new Set(seen.slice(from));
      others.delete("200");
      others.delete("503");
      assertEquals([...others], []);
    }

    async function assertKept(): Promise<void> {
      const rows = await database.admin`select fid::int4, note from deals where tenant_id = 1`;
      for (const [fid, round] of acknowledged) {
        const note = rows.find((row) => row.fid === fid)?.note;
        assert(Number(note) >= round, `${round} was acknowledged, and there is ${note}`);
      }
    }

    it("answer while PgBouncer is killed and started again [M29]", async () => {
      await suffer(async () => {
        await pooler?.stop();
        try {
          await new Promise((resolve) => setTimeout(resolve, 500));
        } finally {
          await openPooler();
        }
      });
      await assertKept();
    });

    it("answer while Postgres is restarted, and when it crashes [M29]", async () => {
      for (const mode of ["fast", "immediate"] as const) {
        await suffer(() => primary.restart(mode));
        await assertKept();
      }
    });

    it("leave the answer to haproxy while no server is available [M29]", async () => {
      const areDown = async () => {
        const up = await Promise.all(instances.map((_, place) => balancer.isUp(place)));
        return !up.some(Boolean);
      };
      await suffer(() =>
        standby.whileHalted("fast", () => primary.whileHalted("fast", () => waitUntil(areDown)))
      );
      await assertKept();
    });

    it("answer while the standby is promoted, and continue there [M29]", async () => {
      await awaitReplay(primary, standby);
      await primary.whileHalted("immediate", () =>
        suffer(async () => {
          const there = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
          await there`select pg_promote(true)`;
          await there.end();
        }));
    });
  });
}

/** Gives the status, and all of a response that is not of the form that the specification says. */
async function describeResponse(response: Response): Promise<string> {
  const text = await response.text();
  const { status, headers } = response;
  const wrong = `${status} ${JSON.stringify([...headers])} ${text}`;
  if (!headers.get("content-type")?.startsWith("application/json")) return wrong;
  const { success, error } = JSON.parse(text);
  if (status === 200 && success === true) return "200";
  const isRejected = success === false && typeof error === "string" && headers.has("retry-after");
  return status === 503 && isRejected ? "503" : wrong;
}
