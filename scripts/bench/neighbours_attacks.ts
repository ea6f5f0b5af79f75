import { connect, type Socket } from "node:net";
import type { Sql } from "../../src/postgres/driver.ts";
import { makeShapes } from "./shapes.ts";

/** A request as it is sent. */
export interface RawRequest {
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: unknown;
}

/** What a tenant does to the service, while another one is measured. */
export interface Attack {
  readonly name: string;
  /** Requests that wrk sends over and over, on so many connections. */
  readonly load?: { readonly requests: readonly RawRequest[]; readonly connections: number };
  /** What wrk cannot do: starts it, and gives the function that stops it. */
  readonly start?: (target: Target) => () => void;
  /** Whether another session has locked the row that is updated. */
  readonly locked?: boolean;
  /** How many times as long the neighbour is measured: the attack sends so few requests. */
  readonly times?: number;
}

/** The service under attack. */
export interface Target {
  readonly port: number;
  readonly token: string;
}

/** The tenant that attacks, the largest; and the row that is locked. */
export const ATTACKER = 1;
/** The row of the attacker that another session locks. */
export const LOCKED_ID = 77;

const CONTACTS = "/integration/tables/contacts";
const QUERY = `${CONTACTS}/query`;
const LOCKED_UPDATE: RawRequest = {
  method: "PATCH",
  path: `${CONTACTS}/records/single`,
  body: { filters: { id: LOCKED_ID }, fields: { visits: 12345678 } },
};
const LARGE_PAGE = query({ per_page: 7 }, "/integration/tables/documents/query");

/** The attacks, each by itself the worst of its kind. */
export const ATTACKS: readonly Attack[] = [
  { name: "10,000 shapes", load: { requests: listShapes(), connections: 16 } },
  {
    name: "50 patterns on every row",
    load: {
      requests: [query({
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
    name: "pages of 200 large rows",
    load: {
      requests: [query({ per_page: 200 }, LARGE_PAGE.path), LARGE_PAGE],
      connections: 16,
    },
  },
  { name: "lists of 200", load: { requests: listLists(), connections: 16 } },
  {
    name: "deep pages",
    load: {
      requests: [700, 600, 500].map((page) =>
        query({ sort: [{ field: "created_at", direction: "asc" }], page, per_page: 200 })
      ),
      connections: 16,
    },
  },
  { name: "500 requests at once", load: { requests: listPages(), connections: 500 } },
  {
    name: "updates of a locked row",
    locked: true,
    load: { requests: [LOCKED_UPDATE], connections: 48 },
  },
  {
    name: "bulk updates of 100,000",
    times: 3,
    load: {
      requests: [{
        method: "PATCH",
        path: "/integration/tables/parcels/records/bulk",
        body: { filters: { kind: "all" }, fields: { visits: 12345678 } },
      }],
      connections: 4,
    },
  },
  {
    name: "clients that do not read",
    start: (target) => keepOpen(target, { requests: [LARGE_PAGE] }),
  },
  {
    name: "clients that hang up",
    locked: true,
    start: (target) => keepOpen(target, { requests: [LOCKED_UPDATE], hangUpMs: 250 }),
  },
];

function query(body: object, path = QUERY): RawRequest {
  return { method: "POST", path, body: { filters: { and: [] }, ...body } };
}

function listShapes(): RawRequest[] {
  return makeShapes(10_000).map(({ body }) => ({ method: "POST", path: QUERY, body }));
}

function listLists(): RawRequest[] {
  return Array.from({ length: 50 }, (_, start) => {
    const value = Array.from({ length: 200 }, (_, n) => start + n * 7);
    const filters = { and: [{ field: "list_id", op: "in", value }] };
    return query({ filters, sort: [{ field: "score", direction: "desc" }], per_page: 200 });
  });
}

function listPages(): RawRequest[] {
  return Array.from({ length: 50 }, (_, n) => {
    const filters = { and: [{ field: "list_id", op: "eq", value: 1 + n * 13 }] };
    return query({ filters, sort: [{ field: "id", direction: "asc" }], per_page: 200 });
  });
}

/** Keeps 48 connections that send requests and do not read; they are opened again after they hang up. */
function keepOpen(
  { port, token }: Target,
  { requests, hangUpMs }: { readonly requests: readonly RawRequest[]; readonly hangUpMs?: number },
): () => void {
  const sockets = new Set<Socket>();
  let stopped = false;
  const open = () => {
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    socket.pause();
    for (const { method, path, body } of requests) {
      const text = JSON.stringify(body);
      const head = [
        `${method} ${path} HTTP/1.1`,
        "Host: bench",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        `Content-Length: ${text.length}`,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
    }
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
