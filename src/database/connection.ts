import type { Options, PostgresType } from "postgres";
import type { Config } from "../config.ts";

/** The driver's options, as it really takes them. */
export type DriverOptions =
  & Partial<Omit<Options<Record<string, PostgresType>>, "host" | "port" | "backoff">>
  & {
    readonly host?: string | readonly string[];
    readonly port?: number | readonly number[];
    readonly backoff?: (attempt: number) => number;
    readonly no_subscribe?: boolean;
    readonly max_pipeline?: number;
    readonly socket?: () => unknown;
  };

/** Longest time until a connection stands, in milliseconds. */
export const CONNECT_MS = 5000;

const URL_PATTERN =
  /^postgres(?:ql)?:\/\/(?:([^:/?]*)(?::(.*))?@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/s;

/**
 * Plans how to reach the database of a URL as libpq would understand it. Only known parameters of
 * the URL are heeded: what the driver would pass on (`?schema=`, `?pgbouncer=`, `?statement_timeout=`)
 * is refused by Postgres or would undo our settings.
 * @throws {Error} when it is no URL of a Postgres or asks for an unknown sslmode; never shows it
 */
export function planConnection(databaseUrl: string): DriverOptions {
  const parts = URL_PATTERN.exec(databaseUrl);
  if (parts === null) {
    throw new Error("DATABASE_URL must read postgres://user:password@host/database");
  }
  const query = new URLSearchParams(parts[5] ?? "");
  const port = Number(query.get("port") ?? "5432");
  const hosts = (query.get("host") ?? decode(parts[3]) ?? "").split(",")
    .map((item) => parseHost(item === "" ? "localhost" : item, port));
  const first = hosts[0]!;
  const local = first.host.startsWith("/");
  const attributes = query.get("target_session_attrs");
  return {
    ...(local
      ? { path: `${first.host}/.s.PGSQL.${first.port}` }
      : { host: hosts.map((item) => item.host), port: hosts.map((item) => item.port) }),
    user: query.get("user") ?? decode(parts[1]),
    password: query.get("password") ?? decode(parts[2]),
    database: query.get("dbname") ?? decode(parts[4]),
    ssl: local ? false : planEncryption(query, hosts.map((item) => item.host)),
    target_session_attrs: attributes === "any" || attributes === null
      ? undefined
      : attributes as "read-write",
  };
}

/** Gives the settings that each session is started with. @see RELIABILITY 3e, 5 */
export function planSettings(
  config: Config,
  { checkClient }: { readonly checkClient: boolean },
): Record<string, string> {
  if (!config.prepare) return { ...POOLER_SETTINGS };
  const options = new URLSearchParams(config.databaseUrl?.split("?")[1] ?? "").get("options");
  return {
    ...(options === null ? {} : { options }),
    ...POOLER_SETTINGS,
    ...PRINT_SETTINGS,
    ...SESSION_SETTINGS,
    statement_timeout: String(config.statementTimeoutMs),
    lock_timeout: String(config.lockTimeoutMs),
    idle_in_transaction_session_timeout: "10000",
    ...(checkClient ? { client_connection_check_interval: "5000" } : {}),
  };
}

/**
 * Gives the settings that each statement makes for itself: behind a pooler the session is anybody's.
 * A statement's own timeout can't be set by itself; our deadline stands in for it.
 * @see DECISIONS 9
 */
export function planStatementSettings(config: Config): Record<string, string> {
  if (config.prepare) return {};
  return { ...PRINT_SETTINGS, lock_timeout: String(config.lockTimeoutMs) };
}

/** What every pooler keeps track of; pgbouncer refuses a session that asks for more. */
export const POOLER_SETTINGS: Readonly<Record<string, string>> = {
  application_name: "rowgate",
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
};

/** What makes Postgres print the same everywhere, whatever a role or database has set. */
export const PRINT_SETTINGS: Readonly<Record<string, string>> = {
  IntervalStyle: "iso_8601",
  extra_float_digits: "1",
  bytea_output: "hex",
  lc_monetary: "C",
};

/** What else a session of ours is started with. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  standard_conforming_strings: "on",
  jit: "off",
  row_security: "on",
  default_transaction_isolation: "read committed",
};

/** `require` encrypts and does not verify, as in libpq; with a root certificate it verifies. */
function planEncryption(query: URLSearchParams, hosts: readonly string[]): DriverOptions["ssl"] {
  const mode = query.get("sslmode") ?? query.get("ssl") ?? "prefer";
  switch (mode) {
    case "disable":
    case "false":
      return false;
    case "allow":
    case "prefer":
      return "prefer";
    case "require":
    case "true":
      if (query.has("sslrootcert")) return planVerification(hosts);
      return "require";
    case "verify-ca":
    case "verify-full":
      return planVerification(hosts);
  }
  throw new Error(
    "DATABASE_URL: sslmode must be disable, allow, prefer, require, verify-ca or verify-full",
  );
}

/** With an IP address the name to verify must be told, or it would be "localhost". */
function planVerification(hosts: readonly string[]): DriverOptions["ssl"] {
  const [host] = hosts;
  const address = hosts.length === 1 && /^[\d.]+$|:/.test(host ?? "");
  return address ? { rejectUnauthorized: true, host } : { rejectUnauthorized: true };
}

function parseHost(text: string, port: number): { readonly host: string; readonly port: number } {
  const parts = (text.startsWith("/") ? /^(.*?)(?::(\d+))?$/ : /^\[?([^\]]*?)\]?(?::(\d+))?$/)
    .exec(text);
  return { host: parts?.[1] || "localhost", port: Number(parts?.[2] ?? port) };
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
