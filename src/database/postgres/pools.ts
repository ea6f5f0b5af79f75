import type { Config } from "../../server/config/config.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import type { Circuit } from "./circuit.ts";
import type { Failure } from "./database_error.ts";
import { findRule, READ_ONLY } from "./failure_kind.ts";
import type { Session } from "./session.ts";
import type { OpenSession } from "./session_opener.ts";
import { Gate, type GateOptions, type WatchGate } from "./gate.ts";
import { Pool } from "./pool.ts";
import type { SessionSource } from "./with_session.ts";

/** The pools of a database, each behind its gate. */
export interface Pools {
  readonly statements: SessionSource;
  /** For the transactions of tenants. */
  readonly transactions: SessionSource;
  /** For the service's own transactions. */
  readonly own: SessionSource;
  /** Replaces all present sessions: none of them is used again. */
  readonly renew: () => void;
  /** Waits for running statements, at most the given milliseconds, and cancels the rest. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** Where the sessions of the pools come from, and what learns of them. */
export interface PoolsOptions extends Pick<SessionSource, "observe" | "onSettled"> {
  readonly open: OpenSession;
  /** Opens a session for transactions of tenants. */
  readonly openForTransactions: OpenSession;
  readonly circuit: Circuit;
  /** Called with a session that is returned while Postgres may still work on its statement. */
  readonly onAbandoned: (session: Session) => void;
  readonly isEmbedded: boolean;
}

/** Time after which a session is replaced. */
const LIFE_MS = 1_800_000;
/** Least time between two renewals of the sessions for a read-only server. */
const RENEW_MS = 500;
/** The same for a session that was opened after the last renewal, which did not help. */
const STILL_READ_ONLY_MS = 60_000;

/** Opens the pools. Sessions that are lost or do not answer renew all of them. */
export function openPools(
  config: Config,
  { open, openForTransactions, circuit, onAbandoned, isEmbedded, observe, onSettled }: PoolsOptions,
): Pools {
  // PGlite has one session: a second statement would only wait inside it.
  const poolSize = isEmbedded ? 1 : config.poolSize;
  const transactions = isEmbedded ? 1 : config.transactions;
  const care = isEmbedded ? {} : { idleMs: config.poolIdleMs, lifeMs: LIFE_MS };
  const kept = isEmbedded ? {} : { idleSize: config.poolIdleSize ?? poolSize };

  const common = { circuit, onAbandoned, ...care };
  const pool = new Pool({ size: poolSize, open, ...common, ...kept });
  const transactionPool = new Pool({ size: transactions, open: openForTransactions, ...common });
  const ownPool = new Pool({ size: 1, open, ...common });
  const pools = [pool, transactionPool, ownPool];

  const renew = () => pools.forEach((each) => each.renew());
  const onUsed = renewAfterLoss(renew);
  const limit = (name: string, size: number, options: GateOptions = {}) =>
    new Gate(size, config.poolWaitMs, { watch: watchGate(name, observe), ...options });
  const source = (pool: Pool, gate: Gate): SessionSource => (
    { pool, gate, observe, onUsed, onSettled }
  );

  return {
    statements: source(pool, limit("statements", poolSize)),
    transactions: source(
      transactionPool,
      limit("transactions", transactions, { maxOfShare: 1 }),
    ),
    own: source(ownPool, new Gate(1, config.poolWaitMs)),
    renew,
    async close(timeoutMs) {
      await Promise.all(pools.map((each) => each.close(timeoutMs)));
    },
  };
}

/** Replaces the sessions after one was lost or did not answer: idle ones may be dead as well. */
function renewAfterLoss(renew: () => void): SessionSource["onUsed"] {
  let renewedMs = -Infinity;
  return (failure, session) => {
    if (failure === undefined) return;
    const isLost = findRule(failure).session === "all end";
    if (!isLost && !becameReadOnly(failure, session, renewedMs)) return;
    renewedMs = performance.now();
    renew();
  };
}

/**
 * Reports whether a server accepted writes when the session was opened and no longer does, as after a
 * failover. A server that was always read-only is no reason for new sessions, and neither is a
 * foreign server behind it.
 */
function becameReadOnly({ code, kind }: Failure, session: Session, renewedMs: number): boolean {
  if (code !== READ_ONLY || kind !== "unavailable" || session.readOnly) return false;
  const pauseMs = session.openedMs > renewedMs ? STILL_READ_ONLY_MS : RENEW_MS;
  return performance.now() - renewedMs > pauseMs;
}

/** Observes the gate of a pool under the name of the pool. */
function watchGate(pool: string, observe: Observe): WatchGate {
  return {
    moved: (size, inUse, waiting) => observe({ kind: "pool", pool, size, inUse, waiting }),
    waited: (waitedMs) => observe({ kind: "pool_wait", pool, waitedMs }),
  };
}
