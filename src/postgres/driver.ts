import postgres from "postgres";
import type { Options, PostgresType, Sql } from "postgres";
import { MAX_BATCHED_STATEMENTS } from "../errors/limits.ts";
import type { DriverSocket } from "./socket.ts";

export type { Fragment, PendingQuery, ReservedSql, Row, RowList, Sql } from "postgres";

/** The driver's options, as it really takes them. */
type DriverOptions =
  & Omit<Options<Record<string, PostgresType>>, "host" | "port" | "backoff" | "onnotify">
  & {
    readonly socket: () => DriverSocket;
    readonly onnotify?: ((channel: string) => void) | undefined;
  };

/** What a client of the driver is made with. */
export type ClientOptions = Pick<
  DriverOptions,
  "socket" | "user" | "password" | "database" | "connection" | "prepare" | "onnotify"
>;

/** Makes a client of postgres.js that has one session, on the socket that it is given. */
export function openClient(options: ClientOptions): Sql {
  const all = { ...COMMON_OPTIONS, ...options, types: TYPES };
  return postgres(all as unknown as Options<Record<string, PostgresType>>) as Sql;
}

/** The driver would parse JSON, which is passed on as Postgres printed it. */
const TYPES: Record<string, PostgresType> = {
  json: { to: 114, from: [114], serialize: String, parse: String },
};

const COMMON_OPTIONS = {
  // Names for the driver's messages; the socket is ours.
  host: "database",
  port: 0,
  max: 1,
  // Nothing queues behind a slow statement: a session is lent to one who asks, with what goes together.
  max_pipeline: MAX_BATCHED_STATEMENTS,
  // Its failure would be a rejection that nobody handles. @see D10
  fetch_types: false,
  no_subscribe: true,
  // Limits and encryption are ours.
  connect_timeout: 0,
  idle_timeout: 0,
  max_lifetime: null,
  ssl: false,
  onnotice: () => {},
  debug: false,
} as const;
