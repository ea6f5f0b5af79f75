import type { Config } from "../../server/config/config.ts";
import type { Session } from "./session.ts";
import { openSession } from "./session.ts";
import type { Address, ConnectionPlan } from "./connection.ts";
import { planConnection } from "./connection.ts";
import { type DriverSocket, type OnNotify, openClient } from "./driver.ts";
import type { Failure } from "./database_error.ts";
import { classify, makeFailure } from "./database_error.ts";
import type { Fence } from "./fence.ts";
import { createHostOpener, isNotPassedOn } from "./host_opener.ts";
import { openPoolerMode, type PoolerMode } from "./pooler.ts";

/** How long a session may take to open, in milliseconds. */
export const CONNECT_MS = 5000;
/** Time after which a running attempt to connect no longer holds up others, in milliseconds. */
export const SLOW_MS = 1000;
const SILENT_MS = 10_000;

/** A Postgres in this process: sockets without a network. */
export interface EmbeddedServer {
  /** Makes a socket for the driver; all sockets share the server's one session. */
  readonly connect: () => DriverSocket;
  readonly close: () => Promise<void>;
}

/** Opens one session, or returns why that failed; calls back with each notification. */
export type OpenSession = (notified?: OnNotify) => Promise<Session | Failure>;

/** Where sessions are opened. */
export interface OpenerOptions {
  readonly embedded?: EmbeddedServer | undefined;
  readonly refuse?: Fence["refuse"];
  /** Called if a session of a standby was opened because no primary was found. */
  readonly onStandIn?: () => void;
  /** Awaited before a session is opened. */
  readonly ready?: () => Promise<void>;
  /** Shared by all openers of a database. */
  readonly mode?: PoolerMode;
  /** Replaces all hosts of the URL, whatever role it requires. */
  readonly only?: Address;
}

/**
 * Makes the function that opens sessions: on the embedded server, or on the first host of
 * `DATABASE_URL` that has the required role. A host that did not answer within a second is tried last
 * for the next ten seconds.
 * @throws {Error} when DATABASE_URL cannot be parsed
 */
export function createSessionOpener(
  config: Config,
  { embedded, refuse, onStandIn, ready, only, mode = openPoolerMode(config.prepare) }:
    OpenerOptions,
): OpenSession {
  if (embedded !== undefined) return openOnEmbedded(embedded, config.prepare !== false);
  const planned = planConnection(config.databaseUrl ?? "");
  const plan: ConnectionPlan = only === undefined
    ? planned
    : { ...planned, addresses: [only], role: "any" };
  const limitMs = plan.connectMs ?? CONNECT_MS / planned.addresses.length;
  const openOnHost = createHostOpener(config, { plan, limitMs, refuse, mode });
  /** The times until which unresponsive hosts are tried last. */
  const silentUntil = new Map<Address, number>();
  const isSilent = (address: Address) => (silentUntil.get(address) ?? 0) > performance.now();

  return async function open(notified): Promise<Session | Failure> {
    await ready?.();
    let failure = makeFailure("unavailable", "NO_SUCH_ROLE");
    for (const { address, role } of planAttempts(plan, isSilent)) {
      const silence = () => silentUntil.set(address, performance.now() + SILENT_MS);
      const timer = setTimeout(silence, SLOW_MS);
      try {
        const session = await openOnHost(address, notified);
        silentUntil.delete(address);
        if (isOfRole(session, role)) {
          if (role === "any" && session.standby) onStandIn?.();
          return session;
        }
        session.close();
      } catch (error) {
        failure = isNotPassedOn(error)
          ? makeFailure("unavailable", "SETTING_NOT_PASSED_ON")
          : classify(error, false);
      } finally {
        clearTimeout(timer);
      }
    }
    return failure;
  };
}

/** The role that is preferred if any server will do, since tokens are read from a primary. */
const FIRST: Partial<Record<ConnectionPlan["role"], ConnectionPlan["role"]>> = {
  any: "primary",
  "prefer-standby": "standby",
};

/**
 * Plans the attempts: `any` and `prefer-standby` accept any server if no host has the preferred role.
 */
function planAttempts(
  { addresses, role }: ConnectionPlan,
  isLast: (address: Address) => boolean,
) {
  const [last, others] = [addresses.filter(isLast), addresses.filter((item) => !isLast(item))];
  const ordered = [...others, ...last];
  const of = (role: ConnectionPlan["role"]) => ordered.map((address) => ({ address, role }));
  const first = FIRST[role];
  return first === undefined || addresses.length === 1 ? of(role) : [...of(first), ...of("any")];
}

function isOfRole({ standby, readOnly }: Session, role: ConnectionPlan["role"]): boolean {
  switch (role) {
    case "any":
      return true;
    case "read-write":
      return !readOnly;
    case "read-only":
      return readOnly;
    case "primary":
      return !standby;
    case "standby":
    case "prefer-standby":
      return standby;
  }
}

const EMBEDDED_LOGIN = {
  user: "postgres",
  database: "postgres",
  password: "",
  connection: { application_name: "rowgate" },
} as const;

function openOnEmbedded(embedded: EmbeddedServer, prepare: boolean): OpenSession {
  return async () => {
    try {
      return await openSession({
        limitMs: CONNECT_MS,
        identify: false,
        setsTimeZone: false,
        keeping: "own",
        openSocket: () => Promise.resolve(embedded.connect()),
        openClient: (socket) => openClient({ ...EMBEDDED_LOGIN, socket, prepare }),
      });
    } catch (error) {
      return classify(error, false);
    }
  };
}
