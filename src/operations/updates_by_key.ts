import type { Database } from "../database/database.ts";
import { openGathering, openGatherings } from "../gather.ts";
import { MAX_TOGETHER } from "../limits.ts";
import type { Observe } from "../observe.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Setting } from "../sql/setting.ts";
import { compileUpdateByKey, type KeyedRow } from "../sql/update_by_key.ts";
import { findShare } from "./find_share.ts";

/** An update by key as it is to be carried out. */
export interface KeyedUpdate {
  readonly plan: UpdatePlan;
  readonly settings: readonly Setting[];
}

/** Carries out an update by key; `alone` does so by itself. */
export type WriteByKey = (
  update: KeyedUpdate,
  alone: () => Promise<KeyedRow>,
) => Promise<KeyedRow>;

/** Longer, and each had better have a session of its own: they wait for one another. */
const SLOW_MS = 100;

/**
 * Sends updates by key of a table that arrive at the same time to Postgres together: each is a
 * statement and a transaction of its own, and none knows of the others.
 * @see docs/decisions/0188-updates-together.md
 */
export function openUpdatesByKey(database: Database, observe: Observe): WriteByKey {
  const gather = openGatherings<KeyedUpdate, KeyedRow>(() =>
    openGathering((updates, errand) => {
      observe({ kind: "gathered", operation: "update_single", requests: updates.length });
      const answers = database.runTogether(
        updates.map(({ plan, settings }) => (sql) => compileUpdateByKey(sql, plan, settings)),
        { write: true, share: findShare(updates.map(({ plan }) => plan)), ...errand },
      );
      return answers.map((answer) => answer.then((rows) => rows?.[0]));
    }, { most: MAX_TOGETHER, slowMs: SLOW_MS })
  );

  // Behind a pooler each statement asks for its types first, so nothing could go out together.
  const isPooled = Object.keys(database.settings).length > 0;
  return (update, alone) =>
    isPooled ? alone() : gather(update.plan.table.name)({ item: update, alone });
}
