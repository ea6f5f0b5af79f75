import type { QueryBody } from "./work.ts";

/** The tenant that asks, and its rows. */
export interface GridTenant {
  readonly tenant: number;
  readonly rows: number;
  /** Its ids, in order; 1,000 of them, spread evenly. */
  readonly ids: readonly number[];
  /** Modification times of these rows, as text. */
  readonly times: readonly string[];
}

/** One request of a shape. */
export interface Variant {
  readonly name: string;
  readonly body: QueryBody;
  /** With the total, which reads every matching row; without it by default. */
  readonly count?: boolean;
  /** The page behind the row with these values of the order, as a page token has them. */
  readonly after?: Readonly<Record<string, string>>;
}

/** One shape of query: the row of the grid. */
export interface GridShape {
  readonly name: string;
  /** Requests with the same texts and different values, for a place between 0 and 1. */
  readonly ask: (of: GridTenant, part: number) => readonly Variant[];
}

const BY_KEY = [{ field: "id", direction: "asc" }] as const;
const BY_TIME = [{ field: "modified_at", direction: "asc" }] as const;
const NEWEST = [{ field: "modified_at", direction: "desc" }] as const;

/** The rows of the grid. */
export const GRID_SHAPES: readonly GridShape[] = [
  {
    name: "by key",
    ask: (of, part) => [{ name: "one row", body: { filters: and(eq("id", pick(of.ids, part))) } }],
  },
  {
    name: "range, same order",
    ask: (of, part) =>
      widths(of, part).flatMap(({ name, range }) => [
        { name, body: { filters: and(range), sort: BY_TIME, per_page: 200 } },
        { name: `${name}, newest first`, body: { filters: and(range), sort: NEWEST } },
      ]),
  },
  {
    name: "range, other order",
    ask: (of, part) =>
      widths(of, part).flatMap(({ name, range }) => [
        { name, body: { filters: and(range), sort: BY_KEY, per_page: 200 } },
        { name: `${name}, total`, body: { filters: and(range), sort: BY_KEY }, count: true },
        { name: `${name}, no index`, body: { filters: and(range), sort: by("amount") } },
      ]),
  },
  {
    name: "condition, by key",
    ask: () =>
      ["rare", "open", "common1", "none"].flatMap((status) => [
        { name: status, body: { filters: and(eq("status", status)), sort: BY_KEY } },
        {
          name: `${status}, newest first`,
          body: { filters: and(eq("status", status)), sort: NEWEST },
        },
      ]),
  },
  {
    name: "two indexes",
    ask: (of, part) => {
      const owner = eq("owner_id", Math.floor(part * 500));
      const email = eq("email", `contact.${pick(of.ids, part)}@example.org`);
      const both = (...or: object[]): QueryBody["filters"] => ({ or } as QueryBody["filters"]);
      return [
        { name: "few", body: { filters: both(owner, email), sort: BY_KEY } },
        { name: "many", body: { filters: both(owner, eq("status", "common1")), sort: BY_KEY } },
        { name: "few, newest first", body: { filters: both(owner, email), sort: NEWEST } },
        {
          name: "both at once",
          body: { filters: and(owner, eq("status", "common1")), sort: BY_KEY },
        },
      ];
    },
  },
  {
    name: "list of 200",
    ask: (of, part) => {
      const keys = list(200, (n) => of.ids[(Math.floor(part * 1000) + n * 5) % 1000]!);
      const owners = list(200, (n) => n * 2);
      const emails = keys.map((id, n) => `contact.${n % 2 === 0 ? id : -id}@example.org`);
      return [
        { name: "keys", body: { filters: and(within("id", keys)), sort: BY_KEY, per_page: 200 } },
        { name: "many", body: { filters: and(within("owner_id", owners)), sort: BY_KEY } },
        {
          name: "half of them unknown",
          body: { filters: and(within("email", emails)), sort: NEWEST },
        },
        {
          name: "many, newest first",
          body: { filters: and(within("owner_id", owners)), sort: NEWEST },
        },
      ];
    },
  },
  {
    name: "like, prefix",
    ask: (of, part) => {
      const id = pick(of.ids, part);
      const like = (value: string) => ({ field: "email", op: "like", value });
      return [
        { name: "few", body: { filters: and(like(`contact.${id}@%`)), sort: BY_KEY } },
        { name: "many", body: { filters: and(like("contact.%")), sort: BY_KEY } },
        { name: "few, no order", body: { filters: and(like(`contact.${id}@%`)) } },
      ];
    },
  },
  {
    name: "like, no prefix",
    ask: (_of, part) => {
      const like = (value: string) => ({ field: "name", op: "like", value });
      return [
        {
          name: "few",
          body: { filters: and(like(`%${Math.floor(part * 90_000)}7`)), sort: BY_KEY },
        },
        { name: "many", body: { filters: and(like("%act%")), sort: BY_KEY } },
        { name: "many, newest first", body: { filters: and(like("%act%")), sort: NEWEST } },
      ];
    },
  },
  {
    name: "null, sparse",
    ask: () =>
      ["is_null", "is_not_null"].flatMap((op) => [
        { name: op, body: { filters: and({ field: "archived_at", op }), sort: BY_KEY } },
        {
          name: `${op}, newest first`,
          body: { filters: and({ field: "archived_at", op }), sort: NEWEST },
        },
      ]),
  },
  {
    name: "page token",
    ask: ({ ids, times }, part) => {
      const at = Math.floor((0.5 + part / 2) * (ids.length - 1));
      const [id, time] = [String(ids[at]), times[at]!];
      const status = and(eq("status", "common1"));
      return [
        { name: "by key", body: { filters: and(), sort: BY_KEY }, after: { id } },
        {
          name: "by time",
          body: { filters: and(), sort: BY_TIME },
          after: { modified_at: time, id },
        },
        {
          name: "newest",
          body: { filters: and(), sort: NEWEST },
          after: { modified_at: time, id },
        },
        { name: "with a condition", body: { filters: status, sort: BY_KEY }, after: { id } },
      ];
    },
  },
  {
    name: "deep page",
    ask: ({ rows }) => {
      const page = Math.floor(rows * 0.6 / 50);
      return [
        { name: "by key", body: { filters: and(), sort: BY_KEY, page } },
        { name: "by time", body: { filters: and(), sort: BY_TIME, page } },
        {
          name: "with a condition",
          body: { filters: and(eq("status", "common1")), sort: BY_KEY, page: 100 },
        },
      ];
    },
  },
];

function and(...items: readonly object[]): QueryBody["filters"] {
  return { and: items } as QueryBody["filters"];
}

function eq(field: string, value: unknown): object {
  return { field, op: "eq", value };
}

function within(field: string, value: readonly unknown[]): object {
  return { field, op: "in", value };
}

function by(field: string): QueryBody["sort"] {
  return [{ field, direction: "asc" }];
}

function list<T>(length: number, make: (place: number) => T): T[] {
  return Array.from({ length }, (_, place) => make(place));
}

function pick<T>(from: readonly T[], part: number): T {
  return from[Math.floor(part * from.length) % from.length]!;
}

/** Ranges of a thousandth of the rows, of half of them, of all, and of none. */
function widths({ times }: GridTenant, part: number) {
  const at = Math.floor(part * (times.length - 2));
  const between = (from: string, to: string) => (
    { field: "modified_at", op: "between", value: [from, to] }
  );
  return [
    { name: "narrow", range: between(times[at]!, times[at + 1]!) },
    { name: "half", range: between(times[Math.floor(times.length / 2)]!, times.at(-1)!) },
    { name: "all", range: between(times[0]!, times.at(-1)!) },
    { name: "none", range: between("2019-01-01T00:00:00Z", "2019-01-02T00:00:00Z") },
  ];
}
