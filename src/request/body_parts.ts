import { MAX_CONDITIONS, MAX_LIST_ITEMS } from "../errors/limits.ts";
import type { UseOf } from "../json/trimming.ts";

/** What a column takes besides scalars: any JSON, a list of scalars, or a list of any JSON. */
export type FieldShape = "scalars" | "json" | "lists" | "lists of json";

/**
 * Says what the parts of an update's body are for: a new value may be an array or an object where the
 * column takes one. `takes` is asked for the names of `fields`; undefined: no such column.
 */
export function useOfUpdate(takes: (name: string) => FieldShape | undefined): UseOf {
  let misfit: unknown;
  return (path, isArray) => {
    const [member, name] = path;
    const depth = path.length;
    if (depth === 0) return isArray ? "quoted" : "read";
    if (member !== "filters" && member !== "fields") return "unread";
    if (depth === 1) return isArray ? "quoted" : "read";
    if (member === "filters") return "quoted";
    const taken = takes(String(name));
    // Of a name that is none nothing is told, and JSON goes on in the client's own words.
    if (taken === undefined || taken === "json") return "unread";
    if (depth === 2) return isArray && taken !== "scalars" ? "read" : "quoted";
    // Its entries go on in the client's own words; of other lists the first misfit is told alone.
    if (taken === "lists of json" || misfit === name) return "unread";
    misfit = name;
    return "quoted";
  };
}

/** Members of a query, and whether they are arrays; undefined: neither array nor object. */
const MEMBERS: ReadonlyMap<string, boolean | undefined> = new Map([
  ["filters", false],
  ["select", true],
  ["sort", true],
  ["page", undefined],
  ["per_page", undefined],
]);
/** Arrays and objects of the largest query: groups, sort items and conditions, with their lists. */
const MAX_QUERY_CONTAINERS = 2 * MAX_LIST_ITEMS + MAX_LIST_ITEMS + 2 * MAX_CONDITIONS + 10;
/** What may be wrong before them, so that it is still told. */
const SLACK = 5000;

/**
 * Says what the parts of a query's body are for. A query with more arrays and objects than its limits
 * admit is refused, whatever they hold.
 */
export function useOfQuery(): UseOf {
  let left = MAX_QUERY_CONTAINERS + SLACK;
  return (path, isArray) => {
    const [member] = path;
    const depth = path.length;
    if (depth === 0) return isArray ? "quoted" : "read";
    if (depth === 1 && isArray !== MEMBERS.get(String(member))) {
      return MEMBERS.has(String(member)) ? "quoted" : "unread";
    }
    if (member === "filters") return left-- > 0 ? "read" : "unread";
    const isRead = depth === 1 || member === "sort" && depth === 2 && !isArray;
    return isRead && left-- > 0 ? "read" : "quoted";
  };
}
