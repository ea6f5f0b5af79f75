import type { Random } from "./random.ts";

/** Columns of `contacts` that the drawn works use. */
export const NUMBERS = ["id", "score", "visits", "list_id"] as const;
/** Those that hold text. */
export const TEXTS = ["name", "email", "company", "city", "status", "notes"] as const;
/** One of them, or the time. */
export type Column = typeof NUMBERS[number] | typeof TEXTS[number] | "created_at";
const COLUMNS: readonly Column[] = [...NUMBERS, ...TEXTS, "created_at"];

/**
 * A condition without its value, which is made from a row of the data. Where it is made from the row
 * around which the request is built, the row meets it.
 */
export interface DrawnCondition {
  readonly field: Column;
  readonly op: Operator;
  readonly from: "own" | "other";
}

/** A condition or a group. */
export type DrawnNode = DrawnCondition | DrawnGroup;

/** Exactly one of the two. */
export interface DrawnGroup {
  readonly and?: readonly DrawnNode[];
  readonly or?: readonly DrawnNode[];
}

/** The shape of a query: everything but its values. */
export interface DrawnQuery {
  readonly kind: "query";
  readonly filters: DrawnGroup;
  /** Rows that the first condition selects. */
  readonly width: number;
  readonly select: readonly Column[];
  readonly sort: readonly { readonly field: Column; readonly direction: "asc" | "desc" }[];
  readonly page: number;
  readonly perPage: number;
  readonly count: boolean;
}

/** The shape of an update: columns that are compared, and columns that are set. */
export interface DrawnUpdate {
  readonly kind: "single" | "bulk";
  readonly filters: readonly Column[];
  readonly fields: readonly ("visits" | "company" | "notes")[];
}

/** Operators by what they are drawn for. */
const ALWAYS = ["eq", "neq", "in", "not_in", "is_not_null"] as const;
const ORDERED = ["gt", "gte", "lt", "lte", "between"] as const;
const PATTERNS = ["like", "not_like"] as const;
/** Within `or` only: no column of the data is null. */
const NEVER = ["is_null"] as const;
/** All that are drawn. */
export type Operator =
  | typeof ALWAYS[number]
  | typeof ORDERED[number]
  | typeof PATTERNS[number]
  | typeof NEVER[number];

/** Rows of a range. */
const WIDTHS = [20, 60, 200, 600, 2000];
const PAGE_SIZES = [10, 20, 50, 50, 50, 100, 200];
/** A group in a group in a group in the outermost one. */
const MAX_DEPTH = 4;
/** Columns of an order beyond the first: a page in order of these is read whole and sorted. */
const SORTED: readonly Column[] = ["id", "created_at", "score", "name", "city", "status", "email"];
/** What a request is most often about: its first condition, and the rows that this selects. */
const ANCHORS = ["key", "key", "key", "keys", "email", "list", "lists", "ids", "times", "since"];

/** Draws the shape of a query: a condition that bounds the rows, more of them, fields, sort, page. */
export function drawQuery(random: Random): DrawnQuery {
  const { anchor, width } = drawAnchor(random);
  const few = width <= 20;
  const extras = Array.from(
    { length: Math.max(0, random.whole(few ? -2 : -1, few ? 2 : 4)) },
    () => drawNode(random, "own", 2),
  );
  const perPage = random.pick(PAGE_SIZES);
  const sort = random.chance(few ? 0.3 : 0.75) || width > perPage ? drawSort(random) : [];
  // Later pages only where all of them are known to be full.
  const isRange = anchor.op === "between" || anchor.op === "gte";
  const pages = extras.length === 0 && isRange ? Math.floor(width / perPage) : 1;
  const fields = random.some(COLUMNS, random.whole(2, 7));
  return {
    kind: "query",
    filters: { and: [anchor, ...extras] },
    width,
    select: random.chance(0.5) ? fields : [],
    sort,
    page: random.chance(0.4) ? random.whole(1, Math.max(1, Math.min(5, pages))) : 1,
    perPage,
    count: random.chance(0.7),
  };
}

/** Draws the shape of an update. `visits` is always set, to a value that no row has yet. */
export function drawUpdate(random: Random): DrawnUpdate {
  const fields = [
    "visits",
    ...random.some(["company", "notes"] as const, random.whole(0, 2)),
  ] as const;
  const more = random.some(["city", "status", "score"] as const, Math.max(0, random.whole(-2, 2)));
  if (random.chance(0.4)) return { kind: "bulk", filters: ["list_id", ...more], fields };
  const key = random.pick(["id", "id", "id", "email"] as const);
  return { kind: "single", filters: [key, ...more], fields };
}

function drawAnchor(random: Random): { anchor: DrawnCondition; width: number } {
  const own = (field: Column, op: Operator, width: number) => ({
    anchor: { field, op, from: "own" } as const,
    width,
  });
  switch (random.pick(ANCHORS)) {
    case "keys":
      return own("id", "in", 20);
    case "email":
      return own("email", "eq", 1);
    case "list":
      return own("list_id", "eq", 100);
    case "lists":
      return own("list_id", "in", 400);
    case "ids":
      return own("id", "between", random.pick(WIDTHS));
    case "times":
      return own("created_at", "between", random.pick(WIDTHS));
    case "since":
      return own("created_at", "gte", random.pick(WIDTHS));
    default:
      return own("id", "eq", 1);
  }
}

function drawNode(random: Random, from: "own" | "other", depth: number): DrawnNode {
  if (depth > MAX_DEPTH || random.chance(0.65)) return drawCondition(random, from);
  const items = (own: "own" | "other") =>
    Array.from({ length: random.whole(1, 2) }, () => drawNode(random, own, depth + 1));
  const first = drawNode(random, from, depth + 1);
  if (random.chance(0.3)) return { and: [first, ...items(from)] };
  return { or: [first, ...items("other")] };
}

function drawCondition(random: Random, from: "own" | "other"): DrawnCondition {
  const field = random.pick(COLUMNS);
  const operators: readonly Operator[] = [
    ...ALWAYS,
    ...(TEXTS.some((text) => text === field) ? PATTERNS : []),
    ...(NUMBERS.some((number) => number === field) ? ORDERED : []),
    ...(field === "created_at" ? ["gte", "lte"] as const : []),
    ...(from === "other" ? NEVER : []),
  ];
  return { field, op: random.pick(operators), from };
}

function drawSort(random: Random): DrawnQuery["sort"] {
  const fields = random.some(SORTED, random.pick([1, 1, 2]));
  return fields.map((field) => ({ field, direction: random.pick(["asc", "desc"] as const) }));
}
