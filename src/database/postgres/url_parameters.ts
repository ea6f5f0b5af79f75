/** Parameters that `planConnection` reads. */
const USED = [
  "application_name",
  "connect_timeout",
  "dbname",
  "fallback_application_name",
  "host",
  "hostaddr",
  "options",
  "password",
  "port",
  "ssl",
  "sslmode",
  "sslrootcert",
  "target_session_attrs",
  "user",
] as const;

/** A parameter of the URL of a database that the service obeys. */
export type UsedParameter = typeof USED[number];

/**
 * The values of libpq's other parameters that change nothing, because the service does that in any
 * case. Any other value is rejected, as is a parameter that is in none of these lists.
 */
const HARMLESS: Readonly<Record<string, RegExp>> = {
  channel_binding: /^(disable|prefer)$/,
  client_encoding: /^(utf-?8|unicode|auto)$/i,
  gssdelegation: /^0$/,
  gssencmode: /^(disable|prefer)$/,
  keepalives: /^1$/,
  load_balance_hosts: /^disable$/,
  max_protocol_version: /^(3\.\d|latest)$/,
  min_protocol_version: /^3\.0$/,
  replication: /^(false|off|no|0)$/i,
  ssl_max_protocol_version: /^(TLSv1\.3)?$/i,
  ssl_min_protocol_version: /^(TLSv1(\.[12])?)?$/i,
  sslcertmode: /^(disable|allow)$/,
  sslcompression: /^0$/,
  sslnegotiation: /^postgres$/,
  sslsni: /^1$/,
};

/** Why libpq's parameters are rejected where a word of advice helps. */
const ADVICE: Readonly<Record<string, string>> = {
  channel_binding: "use sslmode=verify-full, which verifies the server",
  passfile: "write the password into the URL",
  requiressl: "use sslmode=require",
  service: "write the host, user and database into the URL",
};

/** Parameters of other clients, which say nothing about the connection itself. */
const FOREIGN: ReadonlySet<string> = new Set([
  "connection_limit",
  "pgbouncer",
  "pool_timeout",
  "schema",
  "socket_timeout",
  "statement_cache_size",
  "statement_timeout",
]);

/**
 * Reads the parameters of the URL of a database, with libpq's rules: the last one of a name counts,
 * and a plus sign is a plus sign. A parameter is obeyed or rejected; only those of other clients are
 * ignored.
 * @throws {Error} naming the parameter; the message contains no value
 * @see R65
 */
export function readUrlParameters(
  query: string | undefined,
  variable: string,
): ReadonlyMap<UsedParameter, string> {
  const found = new Map<UsedParameter, string>();
  for (const item of (query ?? "").split("&")) {
    if (item === "") continue;
    const equals = item.indexOf("=");
    const name = decodePart(equals === -1 ? item : item.slice(0, equals), variable);
    const value = equals === -1 ? "" : decodePart(item.slice(equals + 1), variable);
    const used = USED.find((one) => one === name);
    if (used !== undefined) found.set(used, value);
    else if (!FOREIGN.has(name)) checkHarmless(name, value, variable);
  }
  return found;
}

function checkHarmless(name: string, value: string, variable: string): void {
  if (HARMLESS[name]?.test(value)) return;
  const shown = /^[a-z_]+$/.test(name) ? name : JSON.stringify(name.slice(0, 50));
  const what = name in HARMLESS ? `this value of ${shown}` : `the parameter ${shown}`;
  const advice = ADVICE[name] ?? "remove it from the URL";
  throw new Error(`${variable}: ${what} is not supported; ${advice}`);
}

/** @throws {Error} as libpq, which rejects an incomplete escape */
function decodePart(text: string, variable: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes("\0")) return decoded;
  } catch {
    // Rejected below.
  }
  throw new Error(`${variable}: a parameter has an incomplete or invalid percent escape`);
}
