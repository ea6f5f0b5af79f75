import type { Sql } from "../../src/database/postgres/driver.ts";
import { SIZE, type Size } from "./dataset.ts";
import { describeNarrow, type Place as Where, type QueryBody } from "./work.ts";

/** One request of a curve. */
export interface Step {
  readonly tenant: number;
  readonly body: QueryBody;
  readonly prefer?: string;
}

/** The point on a curve for which a request is made. */
export interface Place extends Where {
  /** What grows. */
  readonly x: number;
}

type Asked = Omit<Step, "tenant">;

/** One line of a chart. */
export interface Line {
  readonly name: string;
  readonly ask: (place: Place, sql: Sql) => Asked | Promise<Asked>;
}

/** One chart: what grows, at which values, measured by which requests. */
export interface Axis {
  readonly name: string;
  readonly label: string;
  readonly points: readonly number[];
  readonly data: (x: number) => Size;
  /** The tenants whose tokens are used. */
  readonly tenants: (x: number) => readonly number[];
  readonly lines: readonly Line[];
  /** Open connections, of which at most 16 are busy; 16 when undefined. */
  readonly connections?: (x: number) => number;
  /** Different requests; 400 when undefined. */
  readonly tasks?: (x: number) => number;
  /** The report that it is part of; "growth" when undefined. */
  readonly report?: "many";
}

const NO_COUNT = { prefer: "count=none" };
const BY_TIME = [{ field: "created_at", direction: "asc" }] as const;
const BY_KEY = [{ field: "id", direction: "asc" }] as const;
const LARGEST = [1];

const byKey: Line = {
  name: "one row by key",
  ask: ({ rows, part }) => ({ body: { filters: and(keyOf(rows, part)) } }),
};

const aPage: Line = {
  name: "a page of 50 by time, with total",
  ask: () => ({ body: { filters: and(), sort: BY_TIME } }),
};

/** Gives all axes; a tenant of 10^7 rows takes long to make, so only with `--full`. */
export function listAxes(full: boolean): Axis[] {
  const powers = full ? 5 : 4;
  const rows = Array.from({ length: powers }, (_, index) => 10 ** (index + 3));
  const grown: Size = { rows: 1000 * (10 ** powers - 1) / 9, tenants: powers, spread: "powers" };
  return [
    {
      name: "rows",
      label: "tenant's rows",
      points: rows,
      data: () => grown,
      tenants: (x) => [Math.log10(x) - 2],
      lines: [
        byKey,
        nested("4 conditions, 780 rows, with total"),
        nested("4 conditions, 780 rows, no total", NO_COUNT),
        aPage,
        page("page 1, no total", 1, NO_COUNT),
        page("page 1,000, with total", 1000),
        page("page 1,000, no total", 1000, NO_COUNT),
        page("page 1,000 by key, no total", 1000, { ...NO_COUNT, sort: BY_KEY }),
        {
          name: "by an indexed column",
          ask: (place) => ({ body: { filters: and(emailOf(place)) } }),
        },
        {
          name: "by a column without index",
          ask: ({ rows, part }) => ({
            body: { filters: and({ field: "name", op: "eq", value: `Nobody ${part * rows}` }) },
          }),
        },
      ],
    },
    {
      name: "tenants",
      label: "tenants at 1,000,000 rows",
      points: [1, 10, 100, 1000, 10_000, 100_000],
      data: (x) => ({ ...SIZE, tenants: x, spread: "even" }),
      tenants: (x) => Array.from({ length: Math.min(x, 8) }, (_, index) => 1 + index),
      lines: [byKey, page("page 1, no total", 1, { ...NO_COUNT, perPage: 5 })],
    },
    {
      name: "tokens",
      label: "tokens in use",
      report: "many",
      points: [1, 100, 1000, 10_000, 100_000],
      data: () => ({ ...SIZE, tenants: 100_000, spread: "even" }),
      tenants: (x) => Array.from({ length: x }, (_, index) => 1 + index),
      tasks: (x) => Math.max(x, 400),
      lines: [byKey],
    },
    {
      name: "conditions",
      label: "conditions",
      points: [1, 2, 5, 10, 20, 50],
      data: () => SIZE,
      tenants: () => LARGEST,
      lines: [{ name: "one row by key and more", ask: askConditions }],
    },
    {
      name: "per_page",
      label: "rows on the page",
      points: [1, 2, 5, 10, 20, 50, 100, 200],
      data: () => SIZE,
      tenants: () => LARGEST,
      lines: [{
        name: "a page by time, no total",
        ask: ({ x }) => ({ body: { filters: and(), sort: BY_TIME, per_page: x }, ...NO_COUNT }),
      }],
    },
    {
      name: "connections",
      label: "connections, 16 busy",
      points: [1, 4, 16, 50, 200, 500, 1000, 2000],
      data: () => SIZE,
      tenants: () => LARGEST,
      lines: [byKey],
      connections: (x) => x,
    },
  ];
}

function and(...items: readonly object[]): { readonly and: readonly object[] } {
  return { and: items };
}

function keyOf(rows: number, part: number): object {
  return { field: "id", op: "eq", value: 1 + Math.floor(part * rows) };
}

function emailOf({ tenant, rows, part }: Place): object {
  const value = `contact.${tenant}.${1 + Math.floor(part * rows)}@example.org`;
  return { field: "email", op: "eq", value };
}

/** Number of time ranges that requests use: few, so that their rows stay in memory. */
const WINDOWS = 32;

/** The benchmark's Q2. */
function nested(name: string, prefer: { readonly prefer?: string } = {}): Line {
  return {
    name,
    async ask(place, sql) {
      const part = Math.floor(place.part * WINDOWS) / WINDOWS;
      const body = await describeNarrow(sql, { ...place, part });
      return { body, ...prefer };
    },
  };
}

/** A page; in order of time by default. */
interface PageOptions {
  readonly prefer?: string;
  readonly perPage?: number;
  readonly sort?: QueryBody["sort"];
}

function page(
  name: string,
  number: number,
  { prefer, perPage = 50, sort = BY_TIME }: PageOptions = {},
): Line {
  const body = { filters: and(), sort, page: number, per_page: perPage };
  return { name, ask: () => ({ body, ...(prefer === undefined ? {} : { prefer }) }) };
}

/** The key decides; the other conditions hold for every row and are checked on the one found. */
function askConditions({ x, rows, part }: Place): Asked {
  const more = Array.from({ length: x - 1 }, (_, index) => ({
    field: ["score", "visits", "list_id"][index % 3],
    op: "gte",
    value: -index,
  }));
  return { body: { filters: and(keyOf(rows, part), ...more) } };
}
