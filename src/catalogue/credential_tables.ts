/**
 * Tables that hold credential material, by default; in lower case, as they are compared. `api_tokens`
 * is there because it is what a table of tokens like ours is called elsewhere.
 * @see T28, AU15
 */
export const DEFAULT_CREDENTIAL_TABLES: readonly string[] = [
  "user_passwords",
  "passwords",
  "password_resets",
  "password_reset_codes",
  "password_reset_tokens",
  "sessions",
  "user_sessions",
  "session_records",
  "impersonations",
  "impersonation_records",
  "user_impersonations",
  "api_tokens",
];
