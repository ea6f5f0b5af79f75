import postgres from "postgres";
import type { Options, PostgresType, Sql } from "postgres";
import type { Config } from "../config.ts";
import { CONNECT_MS, planConnection, planSettings } from "./connection.ts";
import type { DriverOptions } from "./connection.ts";
import type { Embedded } from "./embedded.ts";

/** A client of the driver that can be replaced by a fresh one. */
export interface Client {
  readonly sql: () => Sql;
  /** How often a connection was closed so far. */
  readonly closes: () => number;
  /**
   * Takes new connections instead of those of `used`, unless that was done already. What runs on
   * them may go on for a while; who asks next gets a connection of its own.
   */
  readonly renew: (used: Sql) => void;
}

/** How many connections a client has, and how long a statement on a replaced one may go on. */
export interface ClientOptions {
  readonly max: number;
  readonly lingerMs: number;
  /** True: a connection is kept until it breaks. */
  readonly keep?: boolean;
}

/**
 * Opens clients of the driver for one database. Nothing is connected before the first statement.
 *
 * A connection that broke in the middle of a statement must not be used again: the driver keeps the
 * last error of the old session and gives it to the first statement of the new one (3.4.9).
 */
export function openDriver(config: Config, embedded: Embedded | undefined) {
  // Not every system can watch its clients; Postgres refuses the session then.
  let checkClient = true;

  function open({ max, keep }: ClientOptions, onclose: () => void): Sql {
    const plan = embedded === undefined
      ? planServer(config, checkClient)
      : { ...planEmbedded(embedded), prepare: config.prepare };
    const lasting = keep ? { idle_timeout: undefined, max_lifetime: null } : {};
    return connect({ ...plan, ...lasting, max, onclose });
  }

  return {
    openClient(options: ClientOptions): Client {
      let closes = 0;
      const count = () => closes++;
      let sql = open(options, count);
      return {
        sql: () => sql,
        closes: () => closes,
        renew(used) {
          if (used !== sql) return;
          closes++;
          sql = open(options, count);
          used.end({ timeout: options.lingerMs / 1000 }).catch(() => {});
        },
      };
    },
    /** Leaves out the setting that a server may refuse; true the first time. */
    dropClientCheck(): boolean {
      const dropped = checkClient;
      checkClient = false;
      return dropped;
    },
  };
}

/** Opens a plain client on an embedded Postgres, for what prepares it: demonstration and tests. */
export function connectEmbedded(embedded: Embedded): Sql {
  return connect(planEmbedded(embedded));
}

function connect(options: DriverOptions): Sql {
  return postgres(options as Options<Record<string, PostgresType>>) as Sql;
}

const COMMON_OPTIONS: DriverOptions = {
  // Fast statements would queue behind slow ones on one connection. @see RELIABILITY 0.4
  max_pipeline: 0,
  // Its failure would be a rejection that nobody handles. @see RELIABILITY 4
  fetch_types: false,
  no_subscribe: true,
  backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 2),
  onnotice: () => {},
  debug: false,
};

function planServer(config: Config, checkClient: boolean): DriverOptions {
  return {
    ...COMMON_OPTIONS,
    ...planConnection(config.databaseUrl ?? ""),
    prepare: config.prepare,
    idle_timeout: 60,
    max_lifetime: 1800,
    connect_timeout: CONNECT_MS / 1000,
    keep_alive: 30,
    connection: planSettings(config, { checkClient }),
  };
}

function planEmbedded(embedded: Embedded): DriverOptions {
  return {
    ...COMMON_OPTIONS,
    socket: embedded.connect,
    host: "embedded",
    port: 0,
    user: "postgres",
    database: "postgres",
    password: "",
    ssl: false,
    max: 1,
    idle_timeout: undefined,
    max_lifetime: null,
    connection: { application_name: "rowgate" },
  };
}
