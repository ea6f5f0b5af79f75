import type { Config } from "../config/config.ts";
import type { Backend } from "./session.ts";
import { openBackend } from "./session.ts";
import type { Address, ConnectionPlan } from "./connection.ts";
import { planConnection, planSettings } from "./connection.ts";
import { type DriverSocket, openClient } from "./driver.ts";
import type { Failure } from "./database_error.ts";
import { classify, fail } from "./database_error.ts";
import { openSocket } from "./socket.ts";

/** Longest time until a session stands, in milliseconds. */
export const CONNECT_MS = 5000;
/** After which an attempt to connect keeps no other from being made. */
export const SLOW_MS = 1000;
const SILENT_MS = 10_000;
/** SQLSTATE of a session setting that the server can not have. */
const SETTING_REFUSED = "22023";
/** What PgBouncer says of a setting that it does not pass on, under a code that it uses for all. */
const NOT_PASSED_ON = /^unsupported startup parameter/;

/** A Postgres in this process: sockets without a network. */
export interface EmbeddedServer {
  /** Makes a socket for the driver; all of them share the server's one session. */
  readonly connect: () => DriverSocket;
  readonly close: () => Promise<void>;
}

/** Opens one session, or says why there is none; tells of notifications where it is asked to. */
export type OpenSession = (notified?: (channel: string) => void) => Promise<Backend | Failure>;

/**
 * Plans sessions of the database of the configuration. Nothing is connected before one is opened.
 * @throws {Error} when DATABASE_URL can not be read
 */
export function planSessions(config: Config, embedded: EmbeddedServer | undefined): OpenSession {
  if (embedded !== undefined) return openOn(embedded, config.prepare);
  const plan = planConnection(config.databaseUrl ?? "");
  const limitMs = CONNECT_MS / plan.addresses.length;
  // Not every system can watch its clients; Postgres refuses the session then.
  let checkClient = true;

  async function open(address: Address, notified?: (channel: string) => void): Promise<Backend> {
    const { user, password, database } = plan;
    const connection = planSettings(config, { checkClient });
    return await openBackend({
      limitMs,
      identify: true,
      openSocket: (signal) => openSocket(address, plan.encryption, signal),
      openClient: (socket) =>
        openClient({
          ...{ user, password, database, connection, socket },
          prepare: config.prepare,
          onnotify: notified,
        }),
    });
  }

  /** Until when a host that does not answer is tried after all others. */
  const silentUntil = new Map<Address, number>();
  const isSilent = (address: Address) => (silentUntil.get(address) ?? 0) > performance.now();

  return async function openSession(notified): Promise<Backend | Failure> {
    let failure = fail("unavailable", "NO_SUCH_ROLE");
    for (const { address, role } of planAttempts(plan, isSilent)) {
      const silence = () => silentUntil.set(address, performance.now() + SILENT_MS);
      const timer = setTimeout(silence, SLOW_MS);
      try {
        const backend = await open(address, notified).catch((error) => {
          if (!checkClient || classify(error).code !== SETTING_REFUSED) throw error;
          checkClient = false;
          return open(address, notified);
        });
        silentUntil.delete(address);
        if (isOfRole(backend, role)) return backend;
        backend.close();
      } catch (error) {
        failure = NOT_PASSED_ON.test((error as Error).message)
          ? fail("unavailable", "SETTING_NOT_PASSED_ON")
          : classify(error, false);
      } finally {
        clearTimeout(timer);
      }
    }
    return failure;
  };
}

/** Who prefers a standby takes what there is after all of them were asked. */
function planAttempts(
  { addresses, role }: ConnectionPlan,
  isLast: (address: Address) => boolean,
) {
  const [last, others] = [addresses.filter(isLast), addresses.filter((item) => !isLast(item))];
  const first = [...others, ...last].map((address) => ({ address, role }));
  if (role !== "prefer-standby") return first;
  return [...first, ...addresses.map((address) => ({ address, role: "any" as const }))];
}

function isOfRole({ standby, readOnly }: Backend, role: ConnectionPlan["role"]): boolean {
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

function openOn(embedded: EmbeddedServer, prepare: boolean): OpenSession {
  return async () => {
    try {
      return await openBackend({
        limitMs: CONNECT_MS,
        identify: false,
        openSocket: () => Promise.resolve(embedded.connect()),
        openClient: (socket) => openClient({ ...EMBEDDED_LOGIN, socket, prepare }),
      });
    } catch (error) {
      return classify(error, false);
    }
  };
}
