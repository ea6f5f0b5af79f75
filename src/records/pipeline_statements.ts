import { MAX_PIPELINED_STATEMENTS } from "../basics/errors/limits.ts";
import type { QueryPlan } from "./plan/query_plan.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Compile, Database } from "../database/postgres/database.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { openBatcher, openBatchers, repeatAlone, type RunAlone } from "./batch.ts";

/** A statement that finds its row by the key, and gives one row. */
export interface StatementByKey<R extends object> {
  readonly plan: QueryPlan | UpdatePlan;
  readonly compile: Compile<R>;
}

/** Runs a statement by key in a pipeline, or alone with `runAlone`, and returns its row. */
export type RunByKey<R extends object> = (
  statement: StatementByKey<R>,
  runAlone: (how: RunAlone) => Promise<R>,
) => Promise<R>;

interface StatementsOptions {
  readonly operation: string;
  /** True if the statements may change rows: then one that may have been executed is not repeated. */
  readonly write: boolean;
}

/** A pipeline that takes longer than this is slower than its statements on a session each. */
const SLOW_MS = 100;
/**
 * A statement that takes longer is cancelled and run alone, since it may wait for a locked row. A
 * shorter limit would more often cancel a commit that waits for a synchronous standby.
 */
const STALL_MS = 125;

/**
 * Pipelines statements by key on a table: those that arrive in the same tick are sent together, on one
 * session, each in a transaction of its own.
 * @see docs/decisions/0022-by-key.md
 */
export function pipelineStatements<R extends object>(
  database: Database,
  observe: Observe,
  { operation, write }: StatementsOptions,
): RunByKey<R> {
  const batcherOf = openBatchers<StatementByKey<R>, R>(() =>
    openBatcher((statements, run) => {
      observe({ kind: "batch", operation, requests: statements.length });
      const tenanted = statements.map(({ compile, plan }) => ({
        compile,
        tenant: plan.scope.tenant,
      }));
      const results = database.pipeline(tenanted, { write, stallMs: STALL_MS, sent: run.sent });
      return results.map((result) =>
        (write ? result : result.catch(repeatAlone)).then((rows) => rows?.[0])
      );
    }, { maxItems: MAX_PIPELINED_STATEMENTS, slowMs: SLOW_MS })
  );

  return (item, runAlone) => {
    const { table, scope } = item.plan;
    return batcherOf(table.name)({ item, tenant: scope.tenant, runAlone });
  };
}
