import type { Config } from "../../server/config/config.ts";
import { readUrlParameters, type UsedParameter } from "./url_parameters.ts";

/** Where a Postgres listens: a port, or a socket in the file system. */
export type Address =
  | {
    readonly host: string;
    readonly port: number;
    /** Connected to in place of the host, whose name the certificate must still have. */
    readonly hostaddr?: string;
  }
  | { readonly path: string };

/** Names a server by its host and port, or the path of its socket. */
export function nameAddress(address: Address): string {
  return "path" in address ? address.path : `${address.host}:${address.port}`;
}

/** How a connection is encrypted. */
export interface Encryption {
  /**
   * `prefer` accepts an unencrypted connection if the server does not encrypt; only `verify`
   * verifies.
   */
  readonly mode: "off" | "prefer" | "require" | "verify";
  /** File with trusted certificates, which replace those of the runtime. */
  readonly rootFile?: string;
}

/** Roles that a server may be required to have. */
const ROLES = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;

/** How to reach the database, and the user to log in as. */
export interface ConnectionPlan {
  /** Tried in this order. */
  readonly addresses: readonly Address[];
  readonly encryption: Encryption;
  readonly role: typeof ROLES[number];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The name of the sessions in pg_stat_activity. */
  readonly applicationName: string;
  /** Settings that the operator gives to each session, as options of the server's command line. */
  readonly options: string | undefined;
  /** Milliseconds that a host has to answer; undefined for the default. */
  readonly connectMs: number | undefined;
}

const URL_PATTERN =
  /^postgres(?:ql)?:\/\/(?:([^:/?]*)(?::(.*))?@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/s;

/**
 * Plans how to reach the database of a URL, as libpq would. Each of libpq's parameters is obeyed or
 * rejected.
 * @throws {Error} if it is not the URL of a Postgres or has a parameter that is not supported; the
 * message never contains the URL
 * @see R65
 */
export function planConnection(
  databaseUrl: string,
  variable = "DATABASE_URL",
): ConnectionPlan {
  const parts = URL_PATTERN.exec(databaseUrl);
  if (parts === null) {
    throw new Error(`${variable} must read postgres://user:password@host/database`);
  }
  const query = readUrlParameters(parts[5], variable);
  const role = ROLES.find((name) => name === (query.get("target_session_attrs") ?? "any"));
  if (role === undefined) {
    throw new Error(`${variable}: target_session_attrs must be one of ${ROLES.join(", ")}`);
  }
  const timeout = query.get("connect_timeout");
  return {
    addresses: planAddresses(query.get("host") ?? decode(parts[3]) ?? "", query, variable),
    encryption: planEncryption(query, variable),
    role,
    user: query.get("user") ?? decode(parts[1]),
    password: query.get("password") ?? decode(parts[2]),
    database: query.get("dbname") ?? decode(parts[4]),
    applicationName: query.get("application_name") ?? query.get("fallback_application_name") ??
      "rowgate",
    options: query.get("options"),
    connectMs: timeout === undefined ? undefined : readTimeout(timeout, variable),
  };
}

/** Reads libpq's `connect_timeout`: whole seconds, at least two; 0 and less set no limit. */
function readTimeout(text: string, variable: string): number | undefined {
  if (!/^\s*[+-]?\d{1,6}\s*$/.test(text)) {
    throw new Error(`${variable}: connect_timeout must be a whole number of seconds`);
  }
  const seconds = Number(text);
  return seconds <= 0 ? undefined : Math.max(seconds, 2) * 1000;
}

/**
 * Plans the addresses of several hosts. Where `port` or `hostaddr` has several values, each belongs
 * to the host at its place, as in libpq.
 */
function planAddresses(
  hosts: string,
  query: ReadonlyMap<UsedParameter, string>,
  variable: string,
): readonly Address[] {
  const numeric = query.get("hostaddr")?.split(",");
  const named = hosts === "" && numeric !== undefined ? numeric : hosts.split(",");
  const ports = query.get("port")?.split(",") ?? [""];
  if (numeric !== undefined && numeric.length !== named.length) {
    throw new Error(`${variable}: hostaddr must name one address for each host`);
  }
  if (ports.length !== 1 && ports.length !== named.length) {
    throw new Error(`${variable}: port must name one port, or one for each host`);
  }
  return named.map((item, place) => {
    const port = (ports.length === 1 ? ports[0] : ports[place]) || "5432";
    const address = parseAddress(item, port, variable);
    const hostaddr = numeric?.[place];
    return hostaddr && "host" in address ? { ...address, hostaddr } : address;
  });
}

/**
 * Returns the addresses of the standbys of `DATABASE_READ_URL`. Queries run on those that are
 * standbys at the moment, so `target_session_attrs` is rejected only if it excludes every standby.
 * @throws {Error} as {@link planConnection}, and if it asks for a primary
 */
export function planStandbys(readUrl: string): readonly Address[] {
  const { addresses, role } = planConnection(readUrl, "DATABASE_READ_URL");
  if (role !== "primary" && role !== "read-write") return addresses;
  throw new Error(
    `DATABASE_READ_URL: target_session_attrs=${role} asks for a primary, expected standby, ` +
      "prefer-standby, read-only or any; DATABASE_URL names the primary",
  );
}

/**
 * Parallel workers are off, because one statement would take three processors from the others; the
 * operator's options may turn them on.
 */
const PARALLEL = "max_parallel_workers_per_gather";

/** Returns the settings that each session starts with. @see P24, P25, P34 */
export function planSettings(
  config: Config,
  { plan: { applicationName, options }, checkClient, pooled = config.prepare === false }: {
    readonly plan: Pick<ConnectionPlan, "applicationName" | "options">;
    readonly checkClient: boolean;
    /** True behind a pooler. */
    readonly pooled?: boolean;
  },
): Record<string, string> {
  const given = {
    ...(options === undefined ? {} : { options }),
    application_name: applicationName,
  };
  if (pooled) return { ...given, ...POOLER_SETTINGS };
  // `openSession` sets it.
  const { TimeZone: _, ...settings } = POOLER_SETTINGS;
  return {
    ...given,
    ...settings,
    ...VALUE_SETTINGS,
    ...SESSION_SETTINGS,
    ...(options?.includes(PARALLEL) ? {} : { [PARALLEL]: "0" }),
    statement_timeout: String(config.statementTimeoutMs),
    lock_timeout: String(config.lockTimeoutMs),
    idle_in_transaction_session_timeout: "10000",
    ...(checkClient ? { client_connection_check_interval: "5000" } : {}),
  };
}

/**
 * Returns the settings that are made before each statement behind a pooler, where others use the
 * session too. A statement cannot change its own timeout; our deadline replaces it.
 * @see R6, P24
 */
export function planStatementSettings(config: Config): Record<string, string> {
  return { ...VALUE_SETTINGS, lock_timeout: String(config.lockTimeoutMs) };
}

/** Settings that every pooler tracks; PgBouncer rejects a session that asks for others. */
export const POOLER_SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
};

/**
 * Settings that make Postgres read and print values the same everywhere, and find the same rows,
 * whatever a role or database has set.
 */
export const VALUE_SETTINGS: Readonly<Record<string, string>> = {
  IntervalStyle: "iso_8601",
  extra_float_digits: "1",
  bytea_output: "hex",
  lc_monetary: "C",
  array_nulls: "on",
  timezone_abbreviations: "Default",
  xmloption: "content",
  xmlbinary: "base64",
  quote_all_identifiers: "off",
  standard_conforming_strings: "on",
  row_security: "on",
  // Otherwise a search of a GIN index may leave out rows.
  gin_fuzzy_search_limit: "0",
};

/** Other settings that a session starts with. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  jit: "off",
  default_transaction_isolation: "read committed",
};

/** `require` encrypts and does not verify, as in libpq; with a root certificate it verifies. */
function planEncryption(
  query: ReadonlyMap<UsedParameter, string>,
  variable: string,
): Encryption {
  const rootFile = query.get("sslrootcert") ?? "system";
  const verify: Encryption = rootFile === "system"
    ? { mode: "verify" }
    : { mode: "verify", rootFile };
  switch (query.get("sslmode") ?? query.get("ssl") ?? "prefer") {
    case "disable":
    case "false":
      return { mode: "off" };
    case "allow":
    case "prefer":
      return { mode: "prefer" };
    case "require":
    case "true":
      return query.has("sslrootcert") ? verify : { mode: "require" };
    case "verify-ca":
    case "verify-full":
      return verify;
  }
  throw new Error(
    `${variable}: sslmode must be disable, allow, prefer, require, verify-ca or verify-full`,
  );
}

function parseAddress(text: string, port: string, variable: string): Address {
  const local = text.startsWith("/");
  const parts = (local ? /^(.*?)(?::(\d*))?$/ : /^\[?([^\]]*?)\]?(?::(\d*))?$/).exec(text);
  const host = parts?.[1] || "localhost";
  const own = parts?.[2] || port;
  if (!/^\d{1,5}$/.test(own) || Number(own) < 1 || Number(own) > 65_535) {
    throw new Error(`${variable}: a port must be a number from 1 to 65535`);
  }
  return local ? { path: `${host}/.s.PGSQL.${own}` } : { host, port: Number(own) };
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
