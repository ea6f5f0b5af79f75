import { type Cluster, startCluster } from "../../test/support/cluster.ts";
import { type FaultProxy, startFaultProxy } from "../../test/support/fault_proxy.ts";
import type { Runtime } from "../../test/support/runtime_server.ts";
import { createTestService, type TestService } from "../../test/support/service.ts";
import { makeTemplates } from "../../test/support/templates.ts";
import { CHAOS_FAULTS, type ChaosFault } from "./faults.ts";
import { beginHistory, prepareTables } from "./history.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { type Random, seedRandom } from "./random.ts";

/** How long, with which seed, against which runtime. */
export interface ChaosOptions {
  readonly forMs: number;
  /** So many at least, though they take longer. */
  readonly leastFaults?: number;
  /** A request that is answered later hung; {@link DEADLINE_MS} when undefined. */
  readonly deadlineMs?: number;
  readonly seed: number;
  /** The runtime of a server in a process of its own; this process when undefined. */
  readonly runtime?: Runtime | undefined;
  /** Called for each fault as it ends. */
  readonly report?: (line: string) => void;
}

/** The result. */
export interface ChaosResult extends LoadResult {
  faults: number;
  acknowledged: number;
  /** Differences to what was acknowledged, in words. */
  lost: readonly string[];
  /** The longest time from the end of a fault to the first successful query. */
  recoveryMs: number;
  /** The most queries, one each 50 ms, from the end of a fault to the first successful one. */
  recoveryQueries: number;
  /** All connections that the service opened to its database. */
  connections: number;
}

const STATEMENT_MS = 2000;
/** Waiting for a place in the pool and for a session, the statement, and our margin. */
export const DEADLINE_MS = 5000 + 5000 + STATEMENT_MS + 3000;

/** Breaks a service's database again and again under load, then compares its tables with the history. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const cluster = await startCluster({
    settings: { fsync: "on", full_page_writes: "on", synchronous_commit: "on" },
  });
  try {
    await makeTemplates(cluster.url);
    let proxy: FaultProxy | undefined;
    const service = await createTestService("real", {
      cluster: cluster.url,
      ...(options.runtime === undefined ? {} : { runtime: options.runtime }),
      environment: { ROWGATE_STATEMENT_TIMEOUT_MS: String(STATEMENT_MS) },
      route: async (url) => {
        proxy = await startFaultProxy(url);
        return proxy.through(url);
      },
    });
    try {
      return await breakOften({ service, proxy: proxy!, cluster }, options);
    } finally {
      await service.close();
      await proxy!.stop();
    }
  } finally {
    await cluster.stop();
  }
}

interface Target {
  readonly service: TestService;
  readonly proxy: FaultProxy;
  readonly cluster: Cluster;
}

async function breakOften(target: Target, options: ChaosOptions): Promise<ChaosResult> {
  const { service, proxy, cluster } = target;
  const { admin } = service.database;
  const random = seedRandom(options.seed);
  await prepareTables(admin);
  await awaitQuery(service);
  const history = beginHistory();
  const load = startLoad(service, {
    history,
    token: await service.issue({ scopes: ["query", "update", "create", "delete"] }),
    // Its own seed: clients draw when they are answered, and the faults must not depend on that.
    random: seedRandom(options.seed + 1),
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
  });
  const endMs = performance.now() + options.forMs;
  const broken = { proxy, cluster, admin };
  let faults = 0;
  let [recoveryMs, recoveryQueries] = [0, 0];
  const isOver = () => performance.now() > endMs && faults >= (options.leastFaults ?? 0);
  try {
    for (let next = shuffle(random); !isOver(); faults++) {
      const fault = next.pop() ?? (next = shuffle(random)).pop()!;
      await sleep(random.between(100, 800));
      await fault.during(broken, random, () => sleep(random.between(100, 2000)));
      const { tookMs, queries } = await awaitQuery(service);
      recoveryMs = Math.max(recoveryMs, tookMs);
      recoveryQueries = Math.max(recoveryQueries, queries);
      options.report?.(`${fault.name}: recovered after ${Math.round(tookMs)} ms`);
    }
  } finally {
    await load.stop();
  }
  return {
    ...load.result,
    faults,
    acknowledged: history.acknowledged(),
    lost: await history.compare(admin),
    recoveryMs,
    recoveryQueries,
    connections: proxy.connections(),
  };
}

/** Each fault once, in random order. */
function shuffle(random: Random): ChaosFault[] {
  return CHAOS_FAULTS.map((fault) => ({ fault, at: random.next() }))
    .sort((one, other) => one.at - other.at).map(({ fault }) => fault);
}

/**
 * Sends a query each 50 ms until one of them succeeds; returns the milliseconds until then, and how many
 * it has sent. Earlier requests may still wait for what the fault broke.
 */
async function awaitQuery(
  service: TestService,
): Promise<{ readonly tookMs: number; readonly queries: number }> {
  const startedMs = performance.now();
  let tookMs: number | undefined;
  async function ask(): Promise<void> {
    const path = "/integration/tables/chaos_counter/query";
    const response = await service.send("POST", path, { body: { per_page: 1 } })
      .catch(() => undefined);
    if (response?.status === 200) tookMs ??= performance.now() - startedMs;
  }
  let queries = 0;
  while (tookMs === undefined && performance.now() - startedMs < 60_000) {
    queries++;
    void ask();
    await sleep(50);
  }
  return { tookMs: tookMs ?? performance.now() - startedMs, queries };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
