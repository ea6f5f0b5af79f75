import type { Sql } from "../../src/database/postgres/driver.ts";
import { TENANTS } from "./dataset.ts";
import { type DrawOptions, drawTasks } from "./drawn_tasks.ts";
import type { FixedWork, Work } from "./options.ts";

/** Placeholder of the number that is different in each request. */
export const VARYING = "12345678";

/** A condition, or a group of them. */
export type Node = Group | Condition;

/** A condition; `is_null` and its opposite have no value. */
export interface Condition {
  readonly field: string;
  readonly op: string;
  readonly value?: unknown;
}

/** Exactly one of the two. */
export interface Group {
  readonly and?: readonly Node[];
  readonly or?: readonly Node[];
}

/** Conditions, columns, order and page of a query, as Rowgate takes them. */
export interface QueryBody {
  readonly filters: Group;
  readonly select?: readonly string[];
  readonly sort?: readonly { readonly field: string; readonly direction: "asc" | "desc" }[];
  readonly page?: number;
  readonly per_page?: number;
}

/** Conditions and values of an update, as Rowgate takes them. */
export interface UpdateBody {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One request, before it is translated for a contender. */
export interface Task {
  readonly tenant: number;
  /** Its table; contacts when undefined. */
  readonly table?: string;
  readonly work: Work;
  readonly kind: "query" | "single" | "bulk";
  /** Its number among the shapes of a drawn work; 0 in the others. */
  readonly shape: number;
  readonly body: QueryBody | UpdateBody;
  /** `count=none` where the total is not wanted. */
  readonly prefer?: string;
}

/** How many different requests each work has. */
const TASKS = 1000;
/** Rows of a time range of a tenant; about a quarter meet the other conditions. */
const NARROW_ROWS = 780;
const WIDE_ROWS = 15_200;
const PAGE_ROWS = 600;

/** Where a request reads. */
export interface Place {
  readonly tenant: number;
  /** Rows of the tenant; ids go from 1 to it. */
  readonly rows: number;
  /** 0 to 1, different for each request. */
  readonly part: number;
}

/** Makes the requests of a fixed work, the same on every machine, or draws those of a drawn one. */
export async function makeTasks(
  sql: Sql,
  work: Work,
  { seed, tenants = TENANTS }: DrawOptions,
): Promise<Task[]> {
  if (work === "DR" || work === "DU") return await drawTasks(sql, work, { seed, tenants });
  const counts = new Map(
    (await sql<{ tenant: number; rows: number }[]>`
      select tenant_id::int4 tenant, max(id)::int4 "rows" from contacts
      where tenant_id = any(${tenants as number[]}) group by 1`)
      .map(({ tenant, rows }) => [tenant, rows]),
  );
  const tasks: Task[] = [];
  for (let index = 0; index < TASKS; index++) {
    const tenant = tenants[index % tenants.length]!;
    // Multiples of the golden ratio are spread evenly, in an order that no cache predicts.
    const place = { tenant, rows: counts.get(tenant)!, part: (index + 1) * 0.618033988749895 % 1 };
    tasks.push({ tenant, work, shape: 0, ...await describe(sql, work, place) });
  }
  return tasks;
}

async function describe(
  sql: Sql,
  work: FixedWork,
  place: Place,
): Promise<Pick<Task, "kind" | "body">> {
  switch (work) {
    case "Q1":
      return { kind: "query", body: describeKey(place) };
    case "Q2":
      return { kind: "query", body: await describeNarrow(sql, place) };
    case "Q2W":
      return { kind: "query", body: await describeNested(sql, place, WIDE_ROWS) };
    case "Q3":
      return { kind: "query", body: await describePage(sql, place) };
    case "U1":
      return { kind: "single", body: describeSingle(place) };
    case "U2":
      return { kind: "bulk", body: describeBulk(place) };
  }
}

function describeKey({ rows, part }: Place): QueryBody {
  const id = 1 + Math.floor(part * rows);
  return { filters: { and: [{ field: "id", op: "eq", value: id }] } };
}

/** Four conditions, nested, over the same number of rows for every tenant. */
export function describeNarrow(sql: Sql, place: Place): Promise<QueryBody> {
  return describeNested(sql, place, NARROW_ROWS);
}

async function describeNested(sql: Sql, place: Place, width: number): Promise<QueryBody> {
  const [from, to] = await findMoments(sql, place, width);
  return {
    filters: {
      and: [
        { field: "created_at", op: "between", value: [from, to] },
        {
          or: [
            {
              and: [
                { field: "status", op: "eq", value: "active" },
                { field: "score", op: "gte", value: 20 },
              ],
            },
            { field: "city", op: "eq", value: "Delft" },
          ],
        },
      ],
    },
    select: ["id", "name", "email", "status", "score"],
    sort: [{ field: "score", direction: "desc" }],
    per_page: 50,
  };
}

async function describePage(sql: Sql, place: Place): Promise<QueryBody> {
  const [from, to] = await findMoments(sql, place, PAGE_ROWS);
  return {
    filters: { and: [{ field: "created_at", op: "between", value: [from, to] }] },
    sort: [{ field: "created_at", direction: "asc" }],
    per_page: 200,
  };
}

function describeSingle({ rows, part }: Place): UpdateBody {
  const id = 1 + Math.floor(part * rows);
  const fields = { visits: Number(VARYING), company: `Company ${VARYING}` };
  return { filters: { id }, fields };
}

function describeBulk({ rows, part }: Place): UpdateBody {
  const list = 1 + Math.floor(part * (rows / 100 - 2));
  return { filters: { list_id: list }, fields: { visits: Number(VARYING) } };
}

async function findMoments(
  sql: Sql,
  { tenant, rows, part }: Place,
  width: number,
): Promise<[string, string]> {
  const first = 1 + Math.floor(part * Math.max(0, rows - width));
  const moments = await sql<{ moment: string }[]>`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') moment from contacts
    where tenant_id = ${tenant} and id in (${first}, ${Math.min(rows, first + width - 1)})
    order by id`;
  return [moments[0]!.moment, moments.at(-1)!.moment];
}

/** Whether a work changes rows. */
export function isUpdate(work: Work): boolean {
  return work.startsWith("U") || work === "DU";
}
