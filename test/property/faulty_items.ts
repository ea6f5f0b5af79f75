import { BAD_SHAPES, DEAL_COLUMNS } from "./deal_columns.ts";

/** An invalid condition or group, and the path of the error in it. */
export interface FaultyItem {
  readonly item: unknown;
  readonly at: string;
}

/** A valid condition. */
export const GOOD = { field: "fid", op: "eq", value: 1 };
/** Names that are not columns of `deals`, or not names at all. */
export const UNKNOWN_NAMES = [
  "fidd",
  "FID",
  "constructor",
  "__proto__",
  "toString",
  "ctid",
  "xmin",
  "tableoid",
  "bad-col",
  "fid ",
  '"fid"',
  "t.fid",
  "",
  "a".repeat(80),
];
/** Values that are not names. */
export const NO_STRINGS = [5, null, true, {}, ["fid"]];

/** Values that are neither conditions nor groups. */
export const FAULTY_ITEMS: readonly FaultyItem[] = [
  ...[{}, null, "x", 5, [], { not: [] }, { AND: [] }, { and: [], or: [] }, {
    and: [],
    field: "fid",
  }].map((item) => ({ item, at: "" })),
  ...[{}, null, "x", GOOD].map((and) => ({ item: { and }, at: ".and" })),
  ...UNKNOWN_NAMES.map((field) => ({ item: { ...GOOD, field }, at: ".field" })),
  ...NO_STRINGS.map((field) => ({ item: { ...GOOD, field }, at: ".field" })),
  ...["EQ", "=", "constructor", "__proto__", "eq; drop table deals", "", null, 5, {}].map((op) => ({
    item: { ...GOOD, op },
    at: ".op",
  })),
  { item: { op: "eq", value: 1 }, at: ".field" },
  { item: { field: "fid", value: 1 }, at: ".op" },
  { item: { field: "fid", op: "eq" }, at: ".value" },
  { item: { ...GOOD, table: "deals" }, at: ".table" },
  { item: { ...GOOD, ["__proto__"]: 1 }, at: ".__proto__" },
  ...["is_null", "is_not_null"].flatMap((op) =>
    [null, false, 1].map((value) => ({ item: { field: "fid", op, value }, at: ".value" }))
  ),
  ...["eq", "neq", "gt", "gte", "lt", "lte", "like", "not_like", "ilike", "starts_with"].flatMap((
    op,
  ) => BAD_SHAPES.map((value) => ({ item: { field: "title", op, value }, at: ".value" }))),
  ...[
    ...["gt", "gte", "lt", "lte", "like", "not_like", "in", "not_in", "between"],
    ...["ilike", "not_ilike", "starts_with"],
  ].map((op) => ({
    item: { field: "title", op, value: null },
    at: ".value",
  })),
  ...["like", "not_like", "ilike", "not_ilike"].flatMap((op) =>
    ["\\", "a\\\\\\", 5, true].map((value) => ({
      item: { field: "title", op, value },
      at: ".value",
    }))
  ),
  ...["in", "not_in"].flatMap((op) => [
    { item: { field: "fid", op, value: [] }, at: ".value" },
    { item: { field: "fid", op, value: Array(201).fill(1) }, at: ".value" },
    { item: { field: "fid", op, value: "1" }, at: ".value" },
    { item: { field: "fid", op, value: { 0: 1 } }, at: ".value" },
    { item: { field: "fid", op, value: [1, 2, {}] }, at: ".value[2]" },
    { item: { field: "fid", op, value: [[1]] }, at: ".value[0]" },
  ]),
  ...[[], [1], [1, 2, 3], "12", { 0: 1, 1: 2 }].map((value) => ({
    item: { field: "fid", op: "between", value },
    at: ".value",
  })),
  { item: { field: "fid", op: "between", value: [null, 2] }, at: ".value[0]" },
  { item: { field: "fid", op: "between", value: [1, null] }, at: ".value[1]" },
  { item: { field: "fid", op: "between", value: [1, [2]] }, at: ".value[1]" },
];

/** A value that does not fit the column's type, alone or in a list. */
export const FAULTY_VALUES: readonly FaultyItem[] = DEAL_COLUMNS.flatMap((
  { name: field, good, bad },
) =>
  bad.flatMap((value) => [
    ...["eq", "neq", "gt", "gte", "lt", "lte"].map((op) => ({
      item: { field, op, value },
      at: ".value",
    })),
    { item: { field, op: "in", value: [good[0], null, value] }, at: ".value[2]" },
    { item: { field, op: "not_in", value: [value] }, at: ".value[0]" },
    { item: { field, op: "between", value: [value, good[0]] }, at: ".value[0]" },
    { item: { field, op: "between", value: [good[0], value] }, at: ".value[1]" },
  ])
);

/** Invalid members of a query body, and the path of the error. */
export const FAULTY_MEMBERS: readonly (readonly [member: string, value: unknown, path: string])[] =
  [
    ...["perPage", "limit", "Filters", "order", "constructor", "__proto__", "PAGE"].map((key) =>
      [key, 1, key] as const
    ),
    ...["page", "per_page"].flatMap((key) =>
      [0, -1, 1.5, "1", null, true, [], {}, 1e300].map((value) => [key, value, key] as const)
    ),
    ...[null, "fid", {}, 5].map((value) => ["select", value, "select"] as const),
    ...[null, "fid", {}, 5].map((value) => ["sort", value, "sort"] as const),
    ...[null, [], "x", 5, true, {}, GOOD, { not: [] }, { and: [], or: [] }].map((value) =>
      ["filters", value, "filters"] as const
    ),
  ];

/** Values that are not sort items. */
export const FAULTY_SORT_ITEMS: readonly FaultyItem[] = [
  ...[null, "fid", 5, []].map((item) => ({ item, at: "" })),
  ...[...UNKNOWN_NAMES, ...NO_STRINGS].map((field) => ({ item: { field }, at: ".field" })),
  ...["ASC", "asc; select", "", null, 1, "desc nulls last"].map((direction) => ({
    item: { field: "fid", direction },
    at: ".direction",
  })),
  { item: { direction: "asc" }, at: ".field" },
  { item: { field: "fid", nulls: "first" }, at: ".nulls" },
];
