import * as v from "valibot";
import type { Config } from "./config.ts";
import { quote } from "../errors/issue.ts";
import { MAX_PAGE_BYTES, MAX_PATTERN_CHARACTERS } from "../errors/limits.ts";

/** One variable: where it goes, what it is when not set, and how its text is read. */
export interface Setting {
  readonly member: keyof Config;
  readonly default: unknown;
  readonly parse: (text: string) => { readonly value: unknown } | { readonly problem: string };
}

/** Longest identifier of Postgres, in bytes. */
const MAX_IDENTIFIER_BYTES = 63;
const OWN_SCHEMA = "rowgate";

const identifier = v.pipe(
  v.string(),
  v.check((text) => !text.includes("\0"), "expected a name without U+0000"),
  v.check(
    (text) => new TextEncoder().encode(text).length <= MAX_IDENTIFIER_BYTES,
    `expected a name of at most ${MAX_IDENTIFIER_BYTES} bytes`,
  ),
);

const schema = v.pipe(
  identifier,
  v.check(
    (text) => !/^(pg_|information_schema$)/i.test(text),
    "a schema of Postgres itself can not be exposed",
  ),
  v.check(
    (text) => text.toLowerCase() !== OWN_SCHEMA,
    "the schema that holds the tokens can not be exposed",
  ),
);

/** Whatever is wrong with it, its value is not shown: it may hold a password. */
const databaseUrl = v.pipe(
  v.string(),
  v.regex(
    /^postgres(ql)?:\/\/[^\s]+$/,
    "expected a URL that reads postgres://user:password@host:5432/database",
  ),
);

const tenantSetting = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$/,
    "expected the name of a setting with a dot in it, such as app.tenant_id",
  ),
  v.maxLength(MAX_IDENTIFIER_BYTES, `expected at most ${MAX_IDENTIFIER_BYTES} characters`),
);

const origins = v.pipe(
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

const MAX_LIMITED_REQUESTS = 1_000_000;
const WINDOW_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

const rateLimit = v.union([
  v.pipe(v.literal("off"), v.transform(() => undefined)),
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,6}\/(s|min|h)$/),
    v.transform((text) => {
      const [requests = "", window = ""] = text.split("/");
      return { requests: Number(requests), windowSeconds: WINDOW_SECONDS[window]! };
    }),
    v.check(({ requests }) => requests <= MAX_LIMITED_REQUESTS),
  ),
], `expected off, or up to ${MAX_LIMITED_REQUESTS} requests in a window: 10/s, 600/min, 5000/h`);

const host = v.pipe(v.string(), v.regex(/^[^\s/]+$/, "expected an address or a host's name"));
const path = v.string();
const logLevel = v.picklist(
  ["debug", "info", "warn", "error", "silent"],
  "expected debug, info, warn, error or silent",
);
const flag = v.pipe(
  v.picklist(["on", "off"], "expected on or off"),
  v.transform((text) => text === "on"),
);

const MAX_WORKERS = 64;

const workers = v.union([
  v.literal("auto"),
  wholeNumber(1, MAX_WORKERS),
], `expected auto, or a whole number from 1 to ${MAX_WORKERS}`);

const MAX_AUDIT_DAYS = 36_500;

const auditDays = v.union([
  v.pipe(v.literal("none"), v.transform(() => undefined)),
  wholeNumber(1, MAX_AUDIT_DAYS),
], `expected none, or a whole number from 1 to ${MAX_AUDIT_DAYS}`);

/** The variables that this version heeds. @see docs/specification/running.md#configuration */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  HOST: setting("host", "127.0.0.1", { shape: host }),
  PORT: setting("port", 8080, { shape: wholeNumber(0, 65_535) }),
  DATABASE_URL: setting("databaseUrl", undefined, { shape: databaseUrl, secret: true }),
  ROWGATE_DATA_DIR: setting("dataDir", "./rowgate-data", { shape: path }),
  ROWGATE_SCHEMA: setting("schema", "public", { shape: schema }),
  ROWGATE_TENANT_COLUMN: setting("tenantColumn", "tenant_id", { shape: identifier }),
  ROWGATE_POLICY: setting("policyFile", undefined, { shape: path }),
  ROWGATE_POOL_SIZE: setting("poolSize", 10, { shape: wholeNumber(1, 1000) }),
  ROWGATE_POOL_WAIT_MS: setting("poolWaitMs", 5000, { shape: wholeNumber(10, 600_000) }),
  ROWGATE_TRANSACTIONS: setting("transactions", 3, { shape: wholeNumber(1, 100) }),
  ROWGATE_TRANSACTION_TIMEOUT_MS: setting("transactionTimeoutMs", undefined, {
    shape: wholeNumber(10, 600_000),
  }),
  ROWGATE_STATEMENT_TIMEOUT_MS: setting("statementTimeoutMs", 30_000, {
    shape: wholeNumber(10, 3_600_000),
  }),
  ROWGATE_LOCK_TIMEOUT_MS: setting("lockTimeoutMs", 5000, { shape: wholeNumber(10, 3_600_000) }),
  ROWGATE_REQUEST_TIMEOUT_MS: setting("requestTimeoutMs", 30_000, {
    shape: wholeNumber(100, 3_600_000),
  }),
  ROWGATE_MAX_BODY_BYTES: setting("maxBodyBytes", 1_048_576, {
    shape: wholeNumber(1024, 104_857_600),
  }),
  ROWGATE_MAX_BODIES_BYTES: setting("maxBodiesBytes", 33_554_432, {
    shape: wholeNumber(65_536, 1_099_511_627_776),
  }),
  ROWGATE_MAX_UNSENT_BYTES: setting("maxUnsentBytes", 268_435_456, {
    shape: wholeNumber(65_536, 1_099_511_627_776),
  }),
  ROWGATE_SEND_TIMEOUT_MS: setting("sendTimeoutMs", 20_000, {
    shape: wholeNumber(100, 3_600_000),
  }),
  ROWGATE_MAX_IN_FLIGHT: setting("maxInFlight", 1000, { shape: wholeNumber(1, 1_000_000) }),
  ROWGATE_MAX_PAGE_BYTES: setting("maxPageBytes", MAX_PAGE_BYTES, {
    shape: wholeNumber(65_536, 33_554_432),
  }),
  ROWGATE_MAX_PATTERN_CHARACTERS: setting("maxPatternCharacters", MAX_PATTERN_CHARACTERS, {
    shape: wholeNumber(1, 1_000_000),
  }),
  ROWGATE_RATE_LIMIT: setting("rateLimit", undefined, { shape: rateLimit }),
  ROWGATE_PREPARE: setting("prepare", true, { shape: flag }),
  ROWGATE_TENANT_SETTING: setting("tenantSetting", undefined, { shape: tenantSetting }),
  ROWGATE_AUDIT: setting("audit", false, { shape: flag }),
  ROWGATE_AUDIT_DAYS: setting("auditDays", undefined, { shape: auditDays }),
  ROWGATE_CORS_ORIGINS: setting("corsOrigins", [], { shape: origins }),
  ROWGATE_CONSOLE: setting("console", true, { shape: flag }),
  ROWGATE_LOG_LEVEL: setting("logLevel", "info", { shape: logLevel }),
  ROWGATE_WORKERS: setting("workers", 1, { shape: workers }),
  ROWGATE_SHUTDOWN_MS: setting("shutdownMs", 30_000, { shape: wholeNumber(0, 3_600_000) }),
};

/** Holds the token of `rowgate types`; no setting, and no other command looks at it. */
export const TOKEN_VARIABLE = "ROWGATE_TOKEN";

function setting(
  member: keyof Config,
  preset: unknown,
  { shape, secret }: { readonly shape: v.GenericSchema<unknown>; readonly secret?: boolean },
): Setting {
  return {
    member,
    default: preset,
    parse(text) {
      const parsed = v.safeParse(shape, text);
      if (parsed.success) return { value: parsed.output };
      const message = parsed.issues[0].message;
      return { problem: secret ? message : `${quote(text)} can not be used, ${message}` };
    },
  };
}

function wholeNumber(least: number, most: number) {
  const expected = `expected a whole number from ${least} to ${most}`;
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, expected),
    v.transform(Number),
    v.minValue(least, expected),
    v.maxValue(most, expected),
  );
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}
