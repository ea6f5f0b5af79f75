import type { Compile, Database } from "../postgres/database.ts";
import { openGathering, openGatherings } from "./batch.ts";
import { MAX_TOGETHER } from "../errors/limits.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { askAgain } from "./ask_again.ts";
import { findShare } from "./find_share.ts";

/** A short statement: it finds its row by the key, and gives one row. */
export interface Short<R extends object> {
  readonly plan: QueryPlan | UpdatePlan;
  readonly compile: Compile<R>;
}

/** Sends a statement by key, and gives its row; `alone` does so by itself. */
export type Send<R extends object> = (short: Short<R>, alone: () => Promise<R>) => Promise<R>;

/** What is sent together. */
export interface SendingOptions {
  readonly operation: string;
  /** True when it may change rows: then nothing is repeated that may have been carried out. */
  readonly write: boolean;
}

/** Longer, and each had better have a session of its own: they wait for one another. */
const SLOW_MS = 100;

/**
 * Sends statements by key on a table that arrive at the same time to Postgres together: each is a
 * transaction of its own, and none knows of the others.
 * @see docs/decisions/0188-updates-together.md
 */
export function openSending<R extends object>(
  database: Database,
  observe: Observe,
  { operation, write }: SendingOptions,
): Send<R> {
  const gather = openGatherings<Short<R>, R>(() =>
    openGathering((shorts, errand) => {
      observe({ kind: "batch", operation, requests: shorts.length });
      const share = findShare(shorts.map(({ plan }) => plan));
      const compiles = shorts.map(({ compile }) => compile);
      const answers = database.runTogether(compiles, { write, share, ...errand });
      return answers.map((answer) =>
        (write ? answer : answer.catch(askAgain)).then((rows) => rows?.[0])
      );
    }, { most: MAX_TOGETHER, slowMs: SLOW_MS })
  );

  // Behind a pooler each statement asks for its types first, so nothing could go out together.
  const isPooled = () => Object.keys(database.settings).length > 0;
  return (short, alone) =>
    isPooled() ? alone() : gather(short.plan.table.name)({ item: short, alone });
}
