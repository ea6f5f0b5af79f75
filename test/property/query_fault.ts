import fc from "fast-check";
import type { Arbitrary } from "fast-check";
import { BAD_SHAPES, DEAL_COLUMNS } from "./deal_columns.ts";
import { arbitraryQueryBody } from "./valid_body.ts";
import type { QueryBody, SentFilter } from "./valid_body.ts";

/** A body with one fault, and the path at which it must be refused. */
export interface FaultyBody {
  readonly body: unknown;
  readonly path: string;
}

/** Something in place of a condition or group, and where in it the fault lies. */
interface FaultyItem {
  readonly item: unknown;
  readonly at: string;
}

const GOOD = { field: "fid", op: "eq", value: 1 };
const UNKNOWN_NAMES = [
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
const NO_STRINGS = [5, null, true, {}, ["fid"]];

const FAULTY_ITEMS: readonly FaultyItem[] = [
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
  ...["eq", "neq", "gt", "gte", "lt", "lte", "like", "not_like"].flatMap((op) =>
    BAD_SHAPES.map((value) => ({ item: { field: "title", op, value }, at: ".value" }))
  ),
  ...["gt", "gte", "lt", "lte", "like", "not_like", "in", "not_in", "between"].map((op) => ({
    item: { field: "title", op, value: null },
    at: ".value",
  })),
  ...["like", "not_like"].flatMap((op) =>
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

/** A value that the column's type does not take, alone or in a list. */
const FAULTY_VALUES: readonly FaultyItem[] = DEAL_COLUMNS.flatMap(({ name: field, good, bad }) =>
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

const FAULTY_MEMBERS: readonly (readonly [member: string, value: unknown, path: string])[] = [
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

const FAULTY_SORT_ITEMS: readonly FaultyItem[] = [
  ...[null, "fid", 5, []].map((item) => ({ item, at: "" })),
  ...[...UNKNOWN_NAMES, ...NO_STRINGS].map((field) => ({ item: { field }, at: ".field" })),
  ...["ASC", "asc; select", "", null, 1, "desc nulls last"].map((direction) => ({
    item: { field: "fid", direction },
    at: ".direction",
  })),
  { item: { direction: "asc" }, at: ".field" },
  { item: { field: "fid", nulls: "first" }, at: ".nulls" },
];

/** A valid query body with one fault put in somewhere. */
export function arbitraryFaultyQuery(): Arbitrary<FaultyBody> {
  const faults: ((body: QueryBody) => Arbitrary<FaultyBody>)[] = [
    (body) => spoilFilter(body, FAULTY_ITEMS),
    (body) => spoilFilter(body, FAULTY_VALUES),
    spoilDepth,
    spoilCount,
    (body) =>
      fc.constantFrom(...FAULTY_MEMBERS).map(([member, value, path]) => ({
        body: define(body, member, value),
        path,
      })),
    (body) => spoilSelect(body),
    (body) => spoilSort(body),
  ];
  return arbitraryQueryBody().chain((body) => fc.constantFrom(...faults).chain((f) => f(body)));
}

/** Sets a member, `__proto__` too. */
function define(body: object, member: string, value: unknown): unknown {
  return Object.fromEntries([
    ...Object.entries(body).filter(([key]) => key !== member),
    [member, value],
  ]);
}

function spoilSelect(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.nat(body.select.length - 1), fc.constantFrom(...UNKNOWN_NAMES, ...NO_STRINGS))
    .map(([position, name]) => ({
      body: { ...body, select: body.select.with(position, name) },
      path: `select[${position}]`,
    }));
}

function spoilSort(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.nat(body.sort.length - 1), fc.constantFrom(...FAULTY_SORT_ITEMS))
    .map(([position, { item, at }]) => ({
      body: { ...body, sort: (body.sort as unknown[]).with(position, item) },
      path: `sort[${position}]${at}`,
    }));
}

function spoilFilter(body: QueryBody, faults: readonly FaultyItem[]): Arbitrary<FaultyBody> {
  return fc.tuple(fc.constantFrom(...placesOf(body.filters)), fc.constantFrom(...faults))
    .map(([place, { item, at }]) => ({
      body: { ...body, filters: replaceItem(body.filters, place, item) },
      path: place.path + at,
    }));
}

/** The sixth group inside each other is refused, where it stands. @see spec 8 */
function spoilDepth(body: QueryBody): Arbitrary<FaultyBody> {
  return fc.tuple(fc.constantFrom(...placesOf(body.filters)), fc.constantFrom("and", "or"))
    .map(([place, combine]) => {
      const missing = 6 - place.steps.length / 2;
      let item: unknown = { [combine]: [] };
      for (let depth = 1; depth < missing; depth++) item = { [combine]: [item] };
      return {
        body: { ...body, filters: replaceItem(body.filters, place, item) },
        path: place.path + `.${combine}[0]`.repeat(missing - 1),
      };
    });
}

/** The fifty-first condition is refused, where it stands. @see spec 8 */
function spoilCount(body: QueryBody): Arbitrary<FaultyBody> {
  const before = JSON.stringify(body.filters).split('"field":').length - 1;
  return fc.constantFrom("and", "or").map((combine) => ({
    body: { ...body, filters: { [combine]: [body.filters, ...Array(60).fill(GOOD)] } },
    path: `filters.${combine}[${1 + 50 - before}]`,
  }));
}

/** An item of a group: the steps to it, and its path as the client would write it. */
interface Place {
  readonly steps: readonly (string | number)[];
  readonly path: string;
}

function placesOf(
  filter: SentFilter,
  steps: readonly (string | number)[] = [],
  path = "filters",
): Place[] {
  return Object.entries(filter).flatMap(([combine, items]) =>
    (combine === "and" || combine === "or" ? items as SentFilter[] : []).flatMap((item, index) => {
      const place = { steps: [...steps, combine, index], path: `${path}.${combine}[${index}]` };
      return [place, ...placesOf(item, place.steps, place.path)];
    })
  );
}

function replaceItem(filter: SentFilter, { steps }: Place, item: unknown): SentFilter {
  const copy = structuredClone(filter);
  let container = copy as Record<string | number, unknown>;
  for (const step of steps.slice(0, -1)) {
    container = container[step] as Record<string | number, unknown>;
  }
  container[steps.at(-1)!] = item;
  return copy;
}
