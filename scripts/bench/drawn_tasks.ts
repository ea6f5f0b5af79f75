import type { Sql } from "../../src/database/postgres/driver.ts";
import { TENANTS } from "./dataset.ts";
import {
  type Column,
  type DrawnCondition,
  type DrawnNode,
  type DrawnQuery,
  type DrawnUpdate,
  drawQuery,
  drawUpdate,
} from "./drawn_shapes.ts";
import { openRandom, type Random } from "./random.ts";
import { type Group, type Node, type QueryBody, type Task, VARYING } from "./work.ts";

/** How many shapes are drawn for a run, and how many requests are made of them. */
export const SHAPES = { DR: 40, DU: 16 };
const TASKS = 1000;

const CITIES = ["Aachen", "Bergen", "Cadiz", "Delft", "Evora", "Faro", "Gent", "Halle", "Imola"];
const STATUSES = ["active", "passive", "invited", "blocked"];

/** A row of the data, from which the values of a request are made. */
type Row = Readonly<Record<Column, string | number>>;

/** The rows of one request: the one that meets every condition, the last of its range, and any other. */
interface Around {
  readonly own: Row;
  readonly last: Row;
  readonly other: Row;
}

/** What the requests are drawn from. */
export interface DrawOptions {
  readonly seed: number;
  readonly tenants?: readonly number[];
  readonly count?: number;
}

/**
 * Draws the requests of a work: shapes from a grammar, in turn, with values from rows of the data. The
 * same seed gives the same requests on the same data.
 */
export async function drawTasks(
  sql: Sql,
  work: "DR" | "DU",
  { seed, tenants = TENANTS, count = TASKS }: DrawOptions,
): Promise<Task[]> {
  // Reads do not change with the grammar of updates.
  const random = openRandom(seed + (work === "DU" ? 1 : 0));
  const shapes: (DrawnQuery | DrawnUpdate)[] = Array.from(
    { length: SHAPES[work] },
    () => work === "DU" ? drawUpdate(random) : drawQuery(random),
  );
  const sizes = await countRows(sql, tenants);
  const places = Array.from({ length: count }, (_, index) => {
    const shape = index % shapes.length;
    const tenant = random.pick(tenants);
    const { ids } = choosePlace(random, shapes[shape]!, sizes.get(tenant)!);
    return { shape, tenant, ids };
  });
  const rows = await readRows(sql, places);
  return places.map(({ shape, tenant }, index) => {
    const drawn = shapes[shape]!;
    const around = rows[index]!;
    if (drawn.kind === "query") {
      const body = makeQuery(random, drawn, around);
      const prefer = drawn.count ? {} : { prefer: "count=none" };
      return { tenant, work, kind: drawn.kind, shape, body, ...prefer };
    }
    return { tenant, work, kind: drawn.kind, shape, body: makeUpdate(drawn, around) };
  });
}

function choosePlace(random: Random, shape: DrawnQuery | DrawnUpdate, size: number) {
  const width = Math.min(size, shape.kind === "query" ? shape.width : 1);
  const [anchor] = shape.kind === "query" ? shape.filters.and ?? [] : [];
  const tail = anchor !== undefined && "op" in anchor && anchor.op === "gte";
  const first = tail ? size - width + 1 : random.whole(1, size - width + 1);
  return { ids: [first, first + width - 1, random.whole(1, size)] };
}

async function countRows(sql: Sql, tenants: readonly number[]): Promise<Map<number, number>> {
  const rows = await sql<{ tenant: number; size: number }[]>`
    select tenant_id::int4 tenant, max(id)::int4 size from contacts
    where tenant_id = any(${tenants as number[]}) group by 1`;
  return new Map(rows.map(({ tenant, size }) => [tenant, size]));
}

/** Reads the three rows of each place, in one statement. */
async function readRows(
  sql: Sql,
  places: readonly { readonly tenant: number; readonly ids: readonly number[] }[],
): Promise<Around[]> {
  const tenants = places.flatMap(({ tenant, ids }) => ids.map(() => tenant));
  const ids = places.flatMap((place) => place.ids);
  const rows = await sql<Row[]>`
    select id::int4, score, visits, list_id, name, email, company, city, status, notes,
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') created_at
    from unnest(${tenants}::int8[], ${ids}::int8[]) with ordinality wanted (tenant_id, id, place)
      join contacts using (tenant_id, id)
    order by place`;
  return places.map((_, index) => {
    const [own, last, other] = rows.slice(3 * index, 3 * index + 3);
    return { own: own!, last: last!, other: other! };
  });
}

function makeQuery(random: Random, drawn: DrawnQuery, around: Around): QueryBody {
  const { select, sort, page, perPage } = drawn;
  return {
    filters: makeNode(random, drawn.filters, around) as Group,
    ...(select.length === 0 ? {} : { select }),
    ...(sort.length === 0 ? {} : { sort }),
    ...(page === 1 ? {} : { page }),
    ...(perPage === 50 ? {} : { per_page: perPage }),
  };
}

function makeUpdate({ filters, fields }: DrawnUpdate, { own }: Around): Task["body"] {
  const values = {
    visits: Number(VARYING),
    company: `Company ${VARYING}`,
    notes: `Called ${VARYING} times`,
  };
  return {
    filters: Object.fromEntries(filters.map((name) => [name, own[name]])),
    fields: Object.fromEntries(fields.map((name) => [name, values[name]])),
  };
}

function makeNode(random: Random, node: DrawnNode, around: Around): Node {
  if ("field" in node) return makeCondition(random, node, around);
  const make = (items: readonly DrawnNode[]) => items.map((item) => makeNode(random, item, around));
  return node.and === undefined ? { or: make(node.or!) } : { and: make(node.and) };
}

function makeCondition(random: Random, { field, op, from }: DrawnCondition, around: Around): Node {
  if (op === "is_null" || op === "is_not_null") return { field, op };
  const value = around[from][field];
  if (field === "created_at" || field === "id" && op === "between") {
    const last = from === "own" ? around.last[field] : value;
    const list = { eq: value, gte: value, lte: value, between: [value, last], in: [value] };
    return { field, op, value: list[op as keyof typeof list] ?? makeOther(random, field, op) };
  }
  if (typeof value === "number") return { field, op, value: makeNumber(random, op, value) };
  return { field, op, value: makeText(random, { field, op, value }) };
}

/** Moments before the first row: for what a row must not be. */
function makeOther(random: Random, field: Column, op: string): unknown {
  const moment = () =>
    field === "id" ? -random.whole(1, 99) : `2019-01-0${random.whole(1, 9)}T00:00:00Z`;
  return op === "not_in" ? [moment(), moment()] : moment();
}

function makeNumber(random: Random, op: string, value: number): unknown {
  const few = () => random.whole(1, 20);
  switch (op) {
    case "neq":
      return -few();
    case "gt":
    case "gte":
      return value - few();
    case "lt":
    case "lte":
      return value + few();
    case "between":
      return [value - few(), value + few()];
    case "in":
      return [value, ...Array.from({ length: few() - 1 }, () => value + random.whole(-500, 500))];
    case "not_in":
      return [-few(), -few()];
    default:
      return value;
  }
}

function makeText(
  random: Random,
  { field, op, value }: { readonly field: Column; readonly op: string; readonly value: string },
): unknown {
  const vocabulary = field === "city"
    ? CITIES
    : field === "status"
    ? STATUSES
    : [`No ${field}`, "x"];
  const others = vocabulary.filter((word) => word !== value);
  switch (op) {
    case "neq":
      return random.pick(others);
    case "in":
      return [value, ...random.some(others, random.whole(1, 3))];
    case "not_in":
      return random.some(others, random.whole(1, 3));
    case "like":
      return random.pick([
        `${value.slice(0, 3)}%`,
        `%${value.slice(2)}`,
        `%${value.slice(1, -1)}%`,
      ]);
    case "not_like":
      return random.pick(["No %", "%zzz", "%zz%"]);
    default:
      return value;
  }
}
