import type { AnyTables, Group } from "./tables.ts";
import type { AnyQuery, AnyRecord } from "./reader.ts";

type AnyCondition = AnyTables[string]["condition"];
/** A group of conditions on any columns. */
export type AnyGroup = Group<AnyCondition>;

/**
 * Gives the condition "behind this row", in the order of these columns: the first is greater, or it
 * is equal and the second is greater, and so on.
 */
export function isBehind(order: readonly string[], row: AnyRecord): AnyGroup {
  return {
    or: order.map((field, index) => ({
      and: [
        ...order.slice(0, index).map((equal) => ({ field: equal, op: "eq", value: row[equal] })),
        { field, op: "gt", value: row[field] },
      ],
    })),
  };
}

/** Adds an item to the client's own filter, one level deeper only when that is no `and`. */
export function restrict({ filters }: AnyQuery, item: AnyCondition | AnyGroup): AnyGroup {
  return { and: [...filters ? filters.and ?? [filters] : [], item] };
}

/** Gives the query in the order of these columns, with them among those that it asks for. */
export function putInOrder(request: AnyQuery, order: readonly string[]): AnyQuery {
  const { select } = request;
  return {
    ...request,
    select: select?.length ? [...new Set([...select, ...order])] : undefined,
    sort: order.map((field) => ({ field })),
  };
}
