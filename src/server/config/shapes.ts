import * as v from "valibot";
import { type HostRule, parseHostRule } from "./webhook_hosts.ts";

/** How the text of a variable is read: a shape of valibot that gives the value. */
export type Shape<T> = v.GenericSchema<string, T>;

/** From all log lines to none. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Number of requests that a token may send in a window of time. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Postgres's longest identifier, in bytes. */
const MAX_IDENTIFIER_BYTES = 63;
const MAX_RATE_REQUESTS = 1_000_000;
const RATE_WINDOW_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

/** An address or host name to listen on. */
export const host: Shape<string> = v.pipe(
  v.string(),
  v.regex(/^[^\s/]+$/, "expected an address or a host name"),
);

/** A path of the file system; whether it exists is checked when it is used. */
export const path: Shape<string> = v.string();

/** The least level that is logged. */
export const logLevel: Shape<LogLevel> = v.picklist(
  ["debug", "info", "warn", "error", "silent"],
  "expected debug, info, warn, error or silent",
);

/** `on`, `off` or `auto`. */
export const onOffOrAuto: Shape<boolean | "auto"> = v.pipe(
  v.picklist(["on", "off", "auto"], "expected on, off or auto"),
  v.transform((text) => text === "auto" ? text : text === "on"),
);

/** `on` or `off`. */
export const onOrOff: Shape<boolean> = v.pipe(
  v.picklist(["on", "off"], "expected on or off"),
  v.transform((text) => text === "on"),
);

/** The URL of a Postgres; its parameters are checked when the connection is planned. */
export const databaseUrl: Shape<string> = v.pipe(
  v.string(),
  v.regex(
    /^postgres(ql)?:\/\/[^\s]+$/,
    "expected a URL such as postgres://user:password@host:5432/database",
  ),
);

/** A name that Postgres can hold. */
export const identifier: Shape<string> = v.pipe(
  v.string(),
  v.check((text) => !text.includes("\0"), "expected a name without U+0000"),
  v.check(
    (text) => new TextEncoder().encode(text).length <= MAX_IDENTIFIER_BYTES,
    `expected a name of at most ${MAX_IDENTIFIER_BYTES} bytes`,
  ),
);

/** The name of a schema that may be exposed. */
const schema: Shape<string> = v.pipe(
  identifier,
  v.check((text) => text !== "", "expected names with commas between them"),
  v.check(
    (text) => !/^(pg_|information_schema$)/i.test(text),
    "the schemas of Postgres itself cannot be exposed",
  ),
  v.check(
    (text) => text.toLowerCase() !== "rowgate",
    "the schema that holds the tokens cannot be exposed",
  ),
);

/** The names of schemas, with commas between them: `public,sales`, `public,"a, b"`. */
export const schemas: Shape<readonly string[]> = v.pipe(
  v.string(),
  v.check(
    (text) => splitNames(text) !== undefined,
    'expected names with commas between them, one that has a comma in double quotes: public,"a, b"',
  ),
  v.transform((text) => splitNames(text)!),
  v.array(schema),
  v.check((names) => new Set(names).size === names.length, "expected each schema once"),
);

/** The name of a custom setting, such as `app.tenant_id`. */
export const tenantSetting: Shape<string> = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$/,
    "expected the name of a setting with a dot in it, such as app.tenant_id",
  ),
  v.maxLength(MAX_IDENTIFIER_BYTES, `expected at most ${MAX_IDENTIFIER_BYTES} characters`),
);

/** The name of a time zone; whether the database knows it is checked later. */
export const timeZone: Shape<string> = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z<][A-Za-z0-9_+\-/<>:.,]{0,62}$/,
    "expected the name of a time zone, such as Europe/Berlin",
  ),
);

/** What a rate limit applies to. */
export type RateLimitScope = "process" | "instances";

/** Whether each process counts by itself, or all instances together. */
export const rateLimitScope: Shape<RateLimitScope> = v.picklist(
  ["process", "instances"],
  "expected process or instances",
);

/** `off`, or requests in a window: `600/min`. */
export const rateLimit: Shape<RateLimit | undefined> = v.union([
  v.pipe(v.literal("off"), v.transform(() => undefined)),
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,6}\/(s|min|h)$/),
    v.transform((text): RateLimit => {
      const [requests = "", window = ""] = text.split("/");
      return { requests: Number(requests), windowSeconds: RATE_WINDOW_SECONDS[window]! };
    }),
    v.check(({ requests }) => requests <= MAX_RATE_REQUESTS),
  ),
], `expected off, or at most ${MAX_RATE_REQUESTS} requests in a window: 10/s, 600/min, 5000/h`);

/** Origins separated by commas, or `*`. */
export const origins: Shape<readonly string[]> = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((item) => item.trim())),
  v.array(v.pipe(
    v.string(),
    v.check(
      (item) => item === "*" || isOrigin(item),
      "expected origins such as https://app.example.org, separated by commas",
    ),
  )),
);

/** Names of hosts separated by commas; `*.` stands for one or more labels, a port is 443 if left out. */
export const webhookHosts: Shape<readonly HostRule[]> = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((item) => parseHostRule(item.trim()))),
  v.array(v.object(
    { name: v.string(), below: v.boolean(), port: v.number() },
    "expected names of hosts such as hooks.zapier.com,*.n8n.cloud,hooks.example.org:8443",
  )),
);

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): Shape<number> {
  const expected = `expected a whole number from ${least} to ${most}`;
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, expected),
    v.transform(Number),
    v.minValue(least, expected),
    v.maxValue(most, expected),
  );
}

/** `auto`, or a whole number from 1 to `most`. */
export function countOrAuto(most: number): Shape<number | "auto"> {
  return v.union(
    [v.literal("auto"), wholeNumber(1, most)],
    `expected auto, or a whole number from 1 to ${most}`,
  );
}

/** `none`, or a whole number from 1 to `most`. */
export function daysOrNone(most: number): Shape<number | undefined> {
  return v.union(
    [v.pipe(v.literal("none"), v.transform(() => undefined)), wholeNumber(1, most)],
    `expected none, or a whole number from 1 to ${most}`,
  );
}

/** A name in double quotes, where two stand for one, or one as it is; then a comma or the end. */
const LISTED_NAME = /\s*(?:"((?:[^"]|"")*)"\s*|([^",\s][^,]*)?)(,|$)/y;

/** Splits a list of names as in SQL, except that case is kept; undefined if a quote is not closed. */
function splitNames(text: string): readonly string[] | undefined {
  const names: string[] = [];
  LISTED_NAME.lastIndex = 0;
  while (true) {
    const [, quoted, plain = "", end] = LISTED_NAME.exec(text) ?? [];
    if (end === undefined) return undefined;
    names.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === "") return names;
  }
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}
