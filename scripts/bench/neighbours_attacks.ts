import { connect, type Socket } from "node:net";
import type { Sql } from "../../src/database/postgres/driver.ts";
import type { Ask } from "./contender.ts";
import { makeShapes } from "./shapes.ts";
import { printRequest } from "./timed_client.ts";
import { type QueryBody, type Task, type UpdateBody, VARYING } from "./work.ts";

/** What a tenant does to the service, or to its machine, while another one is measured. */
export interface Attack {
  readonly name: string;
  /** So many processes that only compute: what the machine makes of a processor that is taken. */
  readonly busy?: number;
  /** Requests that wrk sends over and over, on so many connections. */
  readonly load?: { readonly tasks: readonly Task[]; readonly connections: number };
  /** What wrk cannot do: clients that send it and do not read, 48 at once. */
  readonly open?: { readonly task: Task; readonly hangUpMs?: number };
  /** Whether another session has locked the row that is updated. */
  readonly locked?: boolean;
  /** How many times as long the neighbour is measured: the attack sends so few requests. */
  readonly times?: number;
}

/** The tenant that attacks, the largest; and the row that is locked. */
export const ATTACKER = 1;
/** The row of the attacker that another session locks. */
export const LOCKED_ID = 77;

const LOCKED_UPDATE = update({ filters: { id: LOCKED_ID }, fields: { visits: Number(VARYING) } });
const LARGE_PAGE = query({ per_page: 7 }, "documents");

/** The attacks, each by itself the worst of its kind. */
export const ATTACKS: readonly Attack[] = [
  { name: "10,000 shapes", load: { tasks: makeShapes(10_000), connections: 16 } },
  {
    name: "patterns on all rows",
    load: {
      tasks: [query({
        filters: {
          or: Array.from({ length: 50 }, (_, n) => (
            { field: "notes", op: "like", value: `%${n}%zz%` }
          )),
        },
      })],
      connections: 16,
    },
  },
  {
    name: "pages of large rows",
    load: {
      tasks: [query({ per_page: 200 }, "documents"), LARGE_PAGE],
      connections: 16,
    },
  },
  { name: "lists of 200", load: { tasks: listLists(), connections: 16 } },
  {
    name: "deep pages",
    load: {
      tasks: [700, 600, 500].map((page) =>
        query({ sort: [{ field: "created_at", direction: "asc" }], page, per_page: 200 })
      ),
      connections: 16,
    },
  },
  { name: "500 requests at once", load: { tasks: listPages(), connections: 500 } },
  {
    name: "locked row",
    locked: true,
    load: { tasks: [LOCKED_UPDATE], connections: 48 },
  },
  {
    name: "bulk updates",
    times: 3,
    load: {
      tasks: [
        update({ filters: { kind: "all" }, fields: { visits: Number(VARYING) } }, "parcels"),
      ],
      connections: 4,
    },
  },
  {
    name: "clients not reading",
    open: { task: LARGE_PAGE },
  },
  {
    name: "clients hanging up",
    locked: true,
    open: { task: LOCKED_UPDATE, hangUpMs: 250 },
  },
  // For comparison: the service has no requests but those of B.
  { name: "one busy process", busy: 1 },
  { name: "two busy processes", busy: 2 },
];

function query(body: Partial<QueryBody>, table = "contacts"): Task {
  const whole = { filters: { and: [] }, ...body };
  return { tenant: ATTACKER, table, work: "Q3", kind: "query", shape: 0, body: whole };
}

function update(body: UpdateBody, table?: string): Task {
  if (table === undefined) {
    return { tenant: ATTACKER, work: "U1", kind: "single", shape: 0, body };
  }
  return { tenant: ATTACKER, table, work: "U2", kind: "bulk", shape: 0, body };
}

function listLists(): Task[] {
  return Array.from({ length: 50 }, (_, start) => {
    const value = Array.from({ length: 200 }, (_, n) => start + n * 7);
    const filters = { and: [{ field: "list_id", op: "in", value }] };
    return query({ filters, sort: [{ field: "score", direction: "desc" }], per_page: 200 });
  });
}

function listPages(): Task[] {
  return Array.from({ length: 50 }, (_, n) => {
    const filters = { and: [{ field: "list_id", op: "eq", value: 1 + n * 13 }] };
    return query({ filters, sort: [{ field: "id", direction: "asc" }], per_page: 200 });
  });
}

/**
 * Keeps 48 connections that send a request and do not read, and opens each again once it has ended.
 * Gives the function that stops it.
 */
export function keepOpen(address: string, ask: Ask, hangUpMs?: number): () => void {
  const { host, hostname, port } = new URL(address);
  const text = printRequest(ask, host, 0);
  const sockets = new Set<Socket>();
  let stopped = false;
  const open = () => {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.pause();
    socket.write(text);
    const timer = hangUpMs === undefined ? undefined : setTimeout(() => socket.destroy(), hangUpMs);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
      if (!stopped) setTimeout(open, hangUpMs === undefined ? 100 : 0);
    });
  };
  for (let number = 0; number < 48; number++) open();
  return () => {
    stopped = true;
    for (const socket of sockets) socket.destroy();
  };
}

/** Adds the tables that the attacks need to a copy of the benchmark's data. */
export async function addAttackTables(sql: Sql): Promise<void> {
  for (
    const statement of [
      `create table documents (tenant_id int8 not null, id int8 not null, body text not null,
        primary key (tenant_id, id))`,
      // Hexadecimal digits compress to half, so that the rows are out of line and not tiny.
      `insert into documents select ${ATTACKER}, n, (
        select string_agg(md5(n || ' ' || m), '') from generate_series(1, 31250) m
      ) from generate_series(1, 200) n`,
      `create table parcels (tenant_id int8 not null, id int8 not null, kind text not null,
        visits int4 not null, primary key (tenant_id, id)) with (fillfactor = 50)`,
      `insert into parcels select ${ATTACKER}, n, 'all', 0 from generate_series(1, 100000) n`,
      "grant select, update on documents, parcels to app",
      "vacuum (freeze, analyze) documents, parcels",
    ]
  ) await sql.unsafe(statement);
}
