import type { Config } from "../../server/config/config.ts";
import {
  type Address,
  type ConnectionPlan,
  planSettings,
  planStatementSettings,
} from "./connection.ts";
import { classify } from "./database_error.ts";
import { type ClientOptions, type DriverSocket, type OnNotify, openClient } from "./driver.ts";
import type { Fence } from "./fence.ts";
import { makeSettings, type PoolerMode } from "./pooler.ts";
import { openSession, type Session } from "./session.ts";
import { openSocket } from "./socket.ts";

/** SQLSTATE of a session setting that the server does not support. */
const SETTING_UNSUPPORTED = "22023";
/** PgBouncer's message about a setting that it does not pass on; its code is not specific. */
const NOT_PASSED_ON = /^unsupported startup parameter/;

/** How a session is opened on a host. */
export interface HostOptions {
  readonly plan: ConnectionPlan;
  /** Milliseconds until it must be ready. */
  readonly limitMs: number;
  readonly refuse?: Fence["refuse"] | undefined;
  readonly mode: PoolerMode;
}

/** Opens a session on one host. @throws {Error} of the driver or of the socket */
export type OpenOnHost = (address: Address, notified?: OnNotify) => Promise<Session>;

/**
 * Makes the function that opens sessions on a host. It learns from the answers whether there is a
 * pooler, and whether the server can watch for disconnected clients.
 */
export function createHostOpener(
  config: Config,
  { plan, limitMs, refuse, mode }: HostOptions,
): OpenOnHost {
  // Whether sessions ask Postgres to watch for disconnected clients; on systems that cannot, it
  // rejects such a session.
  let checkClient = true;

  async function openOn(address: Address, notified?: OnNotify): Promise<Session> {
    const { user, password, database } = plan;
    const pooled = mode.isPooled() === true;
    const connection = planSettings(config, { plan, checkClient, pooled });
    return await openSession({
      ...{ limitMs, refuse, identify: true },
      setsTimeZone: !pooled,
      keeping: config.prepare === false ? "none" : pooled ? "unknown" : "shared",
      openSocket: async (signal) => {
        const socket = await openSocket(address, plan.encryption, signal);
        return pooled ? makeSettings(socket, planStatementSettings(config)) : socket;
      },
      openClient: (socket) =>
        openClient({
          ...prepareLogIn({ password, socket }),
          ...{ user, database, connection },
          prepare: config.prepare !== false,
          onnotify: notified,
        }),
    });
  }

  /**
   * Opens a session. If it is unknown whether there is a pooler, it opens one as without: a pooler
   * rejects it or shows itself.
   */
  async function openSuited(address: Address, notified?: OnNotify): Promise<Session> {
    if (config.prepare !== "auto" || mode.isPooled() === true) {
      return await openOn(address, notified);
    }
    try {
      const session = await openOn(address, notified);
      if (session.identity !== undefined) {
        mode.found(false);
        return session;
      }
      session.close();
    } catch (error) {
      if (!isNotPassedOn(error)) throw error;
    }
    mode.found(true);
    return await openOn(address, notified);
  }

  return function open(address, notified) {
    return openSuited(address, notified).catch((error) => {
      if (!checkClient || classify(error).code !== SETTING_UNSUPPORTED) throw error;
      checkClient = false;
      return openSuited(address, notified);
    });
  };
}

/** Reports whether a pooler rejected a session because of one of its settings. */
export function isNotPassedOn(error: unknown): boolean {
  return NOT_PASSED_ON.test((error as Error).message);
}

/** How a session logs in: the options of the driver that concern the password. */
export type LogIn = Pick<ClientOptions, "password" | "socket">;

/** The first byte of a message about authentication, and the number of SASL in it. */
const AUTHENTICATION = 0x52;
const SASL = 10;

/**
 * Prepares the log-in of a session. For SCRAM, Postgres stores a password as SASLprep makes it, so
 * that "é" is the same password however it was typed; the driver sends it as it is. Any other method
 * gets the password unchanged, as in libpq.
 * @see R66
 */
export function prepareLogIn({ password, socket }: LogIn): LogIn {
  // deno-lint-ignore no-control-regex
  if (typeof password !== "string" || /^[\x00-\x7f]*$/.test(password)) return { password, socket };
  let usesScram = false;
  return {
    password: async () => usesScram ? await normalisePassword(password) : password,
    socket() {
      const opened: DriverSocket = socket();
      opened.on("data", (bytes) => {
        usesScram ||= asksForSasl(bytes as Uint8Array);
      });
      return opened;
    },
  };
}

function asksForSasl(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return bytes.length >= 9 && view.getUint8(0) === AUTHENTICATION && view.getUint32(5) === SASL;
}

/**
 * Normalises a password by SASLprep (RFC 4013). One that has characters which SASLprep forbids stays
 * as it is; Postgres does the same when it stores it.
 */
export async function normalisePassword(password: string): Promise<string> {
  const { saslprep } = await import("@mongodb-js/saslprep");
  try {
    return saslprep(password);
  } catch {
    return password;
  }
}
