/** What each variable is for, in few words; a test holds the names to those that are read. */
export const SETTINGS_HELP: Readonly<Record<string, string>> = {
  HOST: "127.0.0.1: address to listen on",
  PORT: "8080: port to listen on; 0 is any free one",
  DATABASE_URL: "postgres://user:password@host/database; none: embedded",
  ROWGATE_DATA_DIR: "./rowgate-data: where the embedded Postgres lies",
  ROWGATE_SCHEMA: "public: the schema that is exposed",
  ROWGATE_TENANT_COLUMN: "tenant_id: the column that says whose a row is",
  ROWGATE_POLICY: "file that refines what is exposed",
  ROWGATE_POOL_SIZE: "10: connections to the database",
  ROWGATE_POOL_WAIT_MS: "5000: how long a request waits for one",
  ROWGATE_TRANSACTIONS: "3: sessions for transactions, beside the pool",
  ROWGATE_TRANSACTION_TIMEOUT_MS: "four fifths of the wait: how long one may take",
  ROWGATE_STATEMENT_TIMEOUT_MS: "30000: how long a statement may take",
  ROWGATE_LOCK_TIMEOUT_MS: "5000: how long it waits for a locked row",
  ROWGATE_REQUEST_TIMEOUT_MS: "30000: by when a request must have arrived",
  ROWGATE_MAX_BODY_BYTES: "1048576: longest body",
  ROWGATE_MAX_BODIES_BYTES: "33554432: all bodies at once",
  ROWGATE_MAX_UNSENT_BYTES: "268435456: all long answers that are not read yet",
  ROWGATE_SEND_TIMEOUT_MS: "20000: how long a client may take nothing of one",
  ROWGATE_MAX_IN_FLIGHT: "1000: requests at once",
  ROWGATE_MAX_PAGE_BYTES: "8388608: largest page of records",
  ROWGATE_MAX_PATTERN_CHARACTERS: "2000: in all patterns of a query together",
  ROWGATE_RATE_LIMIT: "off: requests of each token, 600/min",
  ROWGATE_PREPARE: "on: off behind a transaction pooler",
  ROWGATE_TENANT_SETTING: "setting for your row level security: app.tenant_id",
  ROWGATE_AUDIT: "off: on leaves a row for each update in rowgate.audit",
  ROWGATE_AUDIT_DAYS: "none: days after which such a row is deleted",
  ROWGATE_CORS_ORIGINS: "origins of browsers, separated by commas",
  ROWGATE_CONSOLE: "on: the console at /; off: 404 there",
  ROWGATE_LOG_LEVEL: "info: debug, info, warn, error or silent",
  ROWGATE_WORKERS: "1: processes that serve; auto is one for each processor",
  ROWGATE_SHUTDOWN_MS: "30000: how long a stop waits for what runs",
};

/** Lists the variables, their defaults and meanings, for a person. */
export function describeSettings(): string {
  const lines = Object.entries(SETTINGS_HELP).map(([name, what]) => `  ${name.padEnd(31)} ${what}`);
  return `Environment variables, each with what holds unless it is set:\n${lines.join("\n")}\n`;
}
