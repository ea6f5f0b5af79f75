import { MAX_BATCH_UPDATES, MAX_CONDITIONS, MAX_LIST_ITEMS } from "../errors/limits.ts";
import type { UseOf } from "../json/trimming.ts";

/**
 * The JSON that a new value of a column may be: scalars, any JSON, lists of scalars, or lists of any
 * JSON.
 */
export type FieldShape = "scalars" | "json" | "lists" | "lists of json";

/**
 * Makes the function that says what the parts of an update's body are used for. A new value may be an
 * array or an object if its column takes one. `shapeOf` is called with the names in `fields`; it
 * returns undefined for a name that is not a column.
 */
export function useOfUpdate(shapeOf: (name: string) => FieldShape | undefined): UseOf {
  let misfit: unknown;
  return (path, isArray) => {
    const [member, name] = path;
    const depth = path.length;
    if (depth === 0) return isArray ? "quoted" : "read";
    if (member !== "filters" && member !== "fields") return "unread";
    if (depth === 1) return isArray ? "quoted" : "read";
    if (member === "filters") return "quoted";
    const shape = shapeOf(String(name));
    // The error of an unknown name does not show its value; JSON is passed on as text.
    if (shape === undefined || shape === "json") return "unread";
    if (depth === 2) return isArray && shape !== "scalars" ? "read" : "quoted";
    // Entries that are JSON are passed on as text; of other lists, one wrong entry is reported.
    if (shape === "lists of json") return "skipped";
    if (misfit === name) return "unread";
    misfit = name;
    return "quoted";
  };
}

/** The same for the body of a batch; the parts of each update are used as in a body of its own. */
export function useOfBatch(shapeOf: (name: string) => FieldShape | undefined): UseOf {
  let useOf = useOfUpdate(shapeOf);
  let updates = 0;
  return (path, isArray) => {
    const depth = path.length;
    if (depth === 0) return isArray ? "quoted" : "read";
    if (path[0] !== "updates") return "unread";
    if (depth === 1) return isArray ? "read" : "quoted";
    if (depth > 2) return useOf(path.slice(2), isArray);
    useOf = useOfUpdate(shapeOf);
    return ++updates > MAX_BATCH_UPDATES ? "skipped" : isArray ? "quoted" : "read";
  };
}

/** Members of a query: true for an array, false for an object, undefined for a scalar. */
const MEMBERS: ReadonlyMap<string, boolean | undefined> = new Map([
  ["filters", false],
  ["select", true],
  ["sort", true],
  ["page", undefined],
  ["per_page", undefined],
]);
/**
 * Arrays and objects in the largest valid query: groups, sort items and conditions, with their lists.
 */
const MAX_QUERY_CONTAINERS = 2 * MAX_LIST_ITEMS + MAX_LIST_ITEMS + 2 * MAX_CONDITIONS + 10;
/** Additional wrong parts, so that they are still reported. */
const SLACK = 5000;

/**
 * The same for the body of a query. A query with more arrays and objects than its limits allow is
 * rejected, whatever they contain.
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
