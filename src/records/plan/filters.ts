import { MAX_REPORTED_ISSUES } from "../../basics/errors/limits.ts";
import type { Filter, Group } from "../../request/filters.ts";
import { planCondition, type PredicateOptions } from "./condition.ts";
import type { Predicate } from "./predicate.ts";

/**
 * Returns the predicate of a group; conditions with an issue are left out. An empty `and` matches
 * every row, an empty `or` none.
 * @see Q12, Q13, Q15, Q16
 */
export function planGroup(group: Group, options: PredicateOptions): Predicate {
  const items: Predicate[] = [];
  for (const item of group.items) {
    if (options.findings.issues.length >= MAX_REPORTED_ISSUES) break;
    const predicate = planFilter(item, options);
    if (predicate !== undefined) items.push(predicate);
  }
  return { kind: group.combine, items: dropConstants(group.combine, items) };
}

/**
 * Drops constant groups that change nothing: `true` in an AND and `false` in an OR. Of constants that
 * decide the result, the first stays. Predicates with values always stay, so that Postgres checks the
 * values.
 */
function dropConstants(combine: Group["combine"], items: readonly Predicate[]): Predicate[] {
  let isSettled = false;
  return items.filter((item) => {
    if (!("items" in item) || item.items.length > 0) return true;
    if (item.kind === combine || isSettled) return false;
    isSettled = true;
    return true;
  });
}

function planFilter(filter: Filter, options: PredicateOptions): Predicate | undefined {
  return filter.kind === "group" ? planGroup(filter, options) : planCondition(filter, options);
}
