import { MAX_ISSUES_TOLD } from "../errors/limits.ts";
import type { Filter, Group } from "../request/filters.ts";
import { planCondition, type PredicateOptions } from "./condition.ts";
import type { Predicate } from "./predicate.ts";

/**
 * Gives the predicate that a filter group means; undefined, with an issue, where it means none. An
 * empty `and` matches every row, an empty `or` none.
 * @see Q12, Q13, Q15, Q16
 */
export function planGroup(group: Group, options: PredicateOptions): Predicate {
  const items: Predicate[] = [];
  for (const item of group.items) {
    if (options.findings.issues.length >= MAX_ISSUES_TOLD) break;
    const predicate = planFilter(item, options);
    if (predicate !== undefined) items.push(predicate);
  }
  return { kind: group.combine, items: fold(group.combine, items) };
}

/**
 * Drops what changes nothing: `true` in an AND, `false` in an OR, and all but the first of what
 * decides it. A branch with values is kept, to be judged.
 */
function fold(combine: Group["combine"], items: readonly Predicate[]): Predicate[] {
  let decided = false;
  return items.filter((item) => {
    if (!("items" in item) || item.items.length > 0) return true;
    if (item.kind === combine || decided) return false;
    decided = true;
    return true;
  });
}

function planFilter(filter: Filter, options: PredicateOptions): Predicate | undefined {
  return filter.kind === "group" ? planGroup(filter, options) : planCondition(filter, options);
}
