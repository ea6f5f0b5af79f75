import { type Cluster, startCluster } from "../../test/support/cluster.ts";
import { type FaultProxy, startFaultProxy } from "../../test/support/fault_proxy.ts";
import type { Runtime } from "../../test/support/runtime_server.ts";
import { createTestService, type TestService } from "../../test/support/service.ts";
import { makeTemplates } from "../../test/support/templates.ts";
import { CHAOS_FAULTS, type ChaosFault } from "./faults.ts";
import { beginHistory, prepareTables } from "./history.ts";
import { type LoadFigures, startLoad } from "./load.ts";
import { type Random, seedRandom } from "./random.ts";

/** How long, with which chance, against what. */
export interface ChaosOptions {
  readonly forMs: number;
  readonly seed: number;
  /** What serves, in a process of its own; left out: this process. */
  readonly runtime?: Runtime | undefined;
  /** Told of each fault as it ends. */
  readonly tell?: (line: string) => void;
}

/** What came of it. */
export interface ChaosFigures extends LoadFigures {
  faults: number;
  acknowledged: number;
  /** What differs from what was acknowledged, in words. */
  lost: readonly string[];
  /** From the end of a fault to the first query that succeeded, the worst. */
  recoveryMs: number;
  /** Of the service to its database, in all. */
  connections: number;
}

const STATEMENT_MS = 2000;
/** A place in the pool, a session, the statement and our grace. */
export const DEADLINE_MS = 5000 + 5000 + STATEMENT_MS + 3000;

/** Breaks a service's database again and again under load, then compares what is left of it. */
export async function runChaos(options: ChaosOptions): Promise<ChaosFigures> {
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
      await proxy!.set({ kind: "pass" });
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

async function breakOften(target: Target, options: ChaosOptions): Promise<ChaosFigures> {
  const { service, proxy, cluster } = target;
  const { admin } = service.database;
  const random = seedRandom(options.seed);
  await prepareTables(admin);
  await awaitQuery(service);
  const history = beginHistory();
  const load = startLoad(service, {
    history,
    // Clients draw when they are answered: faults must not depend on that.
    random: seedRandom(options.seed + 1),
    deadlineMs: DEADLINE_MS,
  });
  const endMs = performance.now() + options.forMs;
  const broken = { proxy, cluster, admin };
  let faults = 0;
  let recoveryMs = 0;
  for (let next = shuffle(random); performance.now() < endMs; faults++) {
    const fault = next.pop() ?? (next = shuffle(random)).pop()!;
    await sleep(random.between(100, 800));
    await fault.begin(broken, random);
    await sleep(random.between(100, 2000));
    await fault.end(broken);
    const tookMs = await awaitQuery(service);
    recoveryMs = Math.max(recoveryMs, tookMs);
    options.tell?.(`${fault.name}: well again after ${Math.round(tookMs)} ms`);
  }
  await load.stop();
  return {
    ...load.figures,
    faults,
    acknowledged: history.acknowledged(),
    lost: await history.compare(admin),
    recoveryMs,
    connections: proxy.connections(),
  };
}

/** Each of them once, in some order. */
function shuffle(random: Random): ChaosFault[] {
  return CHAOS_FAULTS.map((fault) => ({ fault, at: random.next() }))
    .sort((one, other) => one.at - other.at).map(({ fault }) => fault);
}

/**
 * Asks each 50 ms until one of those queries succeeds; gives the milliseconds until then. What was
 * asked before may still wait for what the fault has broken.
 */
async function awaitQuery(service: TestService): Promise<number> {
  const startedMs = performance.now();
  let tookMs: number | undefined;
  async function ask(): Promise<void> {
    const path = "/integration/tables/chaos_counter/query";
    const answer = await service.send("POST", path, { body: { per_page: 1 } })
      .catch(() => undefined);
    if (answer?.status === 200) tookMs ??= performance.now() - startedMs;
  }
  while (tookMs === undefined && performance.now() - startedMs < 60_000) {
    void ask();
    await sleep(50);
  }
  return tookMs ?? performance.now() - startedMs;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
