import { MAX_PIPELINED_STATEMENTS } from "../basics/errors/limits.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import type { Step, StepGroup } from "../database/postgres/database.ts";
import type { Rows } from "../database/postgres/driver.ts";
import { compileUpdateByKey, type KeyedRow } from "./sql/update_by_key.ts";
import {
  compileLock,
  compileUpdateSingle,
  readLocked,
  type SingleRow,
} from "./sql/update_single.ts";
import type { Run } from "./run.ts";
import { findRejection, readKeyed } from "./update_one.ts";
import { makeRuledSteps } from "./update_with_rules.ts";

/** What one update did. */
export interface PartResult {
  readonly row: SingleRow;
  /** True when the row was locked before it was decided. */
  readonly locked: boolean;
}

/** The steps of one update, and the function that reads its result from the rows of the last step. */
export interface Part {
  readonly steps: readonly (Step | StepGroup)[];
  readonly read: (rows: Rows) => PartResult;
}

/**
 * Makes the steps of one update of a batch; with `locks` it locks its row first, so that no other request
 * can change the row meanwhile.
 */
export function makePart(run: Run, update: UpdatePlan, locks: boolean): Part {
  const { table, byKey } = update;
  const { settings } = run;
  if (table.hasRewriteRules) {
    const { steps, read } = makeRuledSteps(update, {
      maxRows: 1,
      lock: true,
      findRejection: (row) => findRejection(update, row),
    });
    return { steps, read: () => ({ row: read(), locked: read().locked > 0 }) };
  }
  if (!locks && byKey) {
    const write: Step = (sql) => compileUpdateByKey(sql, update, settings);
    return {
      steps: [write],
      read: ([row]) => ({ row: readKeyed(update, row as KeyedRow), locked: false }),
    };
  }
  const readSingle = ([row]: Rows) => row as SingleRow;
  if (!locks && table.pinnable) {
    const write: Step = (sql) => compileUpdateSingle(sql, update, settings);
    return { steps: [write], read: (rows) => ({ row: readSingle(rows), locked: false }) };
  }
  let locked = false;
  const lock: Step = (sql) => compileLock(sql, update, settings);
  const write: Step = (sql, before) => {
    locked = readLocked(before) > 0;
    return compileUpdateSingle(sql, { ...update, readsOnly: !locked }, settings);
  };
  return { steps: [lock, write], read: (rows) => ({ row: readSingle(rows), locked }) };
}

/** Lists the steps of a part of a transaction. */
export function listSteps(step: Step | StepGroup): readonly Step[] {
  return typeof step === "function" ? [step] : step.steps;
}

/**
 * Groups the updates: those of one statement each are sent together, as many as a session may be
 * sent.
 */
export function groupParts(
  parts: readonly (Part & { readonly take: (rows: Rows) => void })[],
): (Step | StepGroup)[] {
  const grouped: (Step | StepGroup)[] = [];
  let group: { readonly steps: Step[]; readonly takes: ((rows: Rows) => void)[] } | undefined;
  for (const { steps, take } of parts) {
    const last = steps.at(-1)!;
    if (steps.length > 1 || typeof last !== "function") {
      group = undefined;
      const takeLast = (rows: Rows) => {
        if (typeof last !== "function") last.take(rows);
        take(rows);
      };
      grouped.push(...steps.slice(0, -1), { steps: listSteps(last), take: takeLast });
    } else if (group !== undefined && group.steps.length < MAX_PIPELINED_STATEMENTS) {
      group.steps.push(last);
      group.takes.push(take);
    } else {
      const takes = [take];
      group = { steps: [last], takes };
      // Each of these statements gives one row.
      grouped.push({
        steps: group.steps,
        take: (rows) => rows.forEach((row, place) => takes[place]!(rowsOf(row))),
      });
    }
  }
  return grouped;
}

function rowsOf(row: Rows[number]): Rows {
  return Object.assign([row], { count: 1 });
}
