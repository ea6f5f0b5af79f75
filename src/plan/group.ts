import type { Filter, Group } from "../request/filter.ts";
import { planCondition, type PredicateOptions } from "./condition.ts";
import type { Predicate } from "./predicate.ts";

/**
 * Gives the predicate that a filter group means; undefined, with an issue, where it means none. An
 * empty `and` matches every row, an empty `or` none.
 * @see DECISIONS 3
 */
export function planGroup(group: Group, options: PredicateOptions): Predicate {
  const items: Predicate[] = [];
  for (const item of group.items) {
    const predicate = planFilter(item, options);
    if (predicate !== undefined) items.push(predicate);
  }
  return { kind: group.combine, items };
}

function planFilter(filter: Filter, options: PredicateOptions): Predicate | undefined {
  return filter.kind === "group" ? planGroup(filter, options) : planCondition(filter, options);
}
