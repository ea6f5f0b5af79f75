import type { ErrorStatus } from "../../../operations/description.ts";

/** An error that the service has really sent. */
export interface ErrorExample {
  readonly name: string;
  readonly status: ErrorStatus;
  readonly summary: string;
  readonly body: { readonly success: false; readonly error: string; readonly matched?: number };
}

/** Recorded from real responses: `ROWGATE_WRITE_EXAMPLES=1 deno task test test/openapi` does it again. */
export const ERROR_EXAMPLES: readonly ErrorExample[] = [
  {
    "name": "operator",
    "status": 400,
    "summary": "An unknown operator",
    "body": {
      "success": false,
      "error":
        'filters.and[0].op: "greater" is not a supported operator, expected one of eq, neq, gt, gte, lt, lte, like, not_like, in, not_in, between, is_null, is_not_null, ilike, not_ilike, starts_with, contains',
    },
  },
  {
    "name": "value",
    "status": 400,
    "summary": "A value of the wrong shape in a nested group",
    "body": {
      "success": false,
      "error":
        "filters.or[0].and[0].value: the array has 1 value, expected an array of exactly 2 scalars",
    },
  },
  {
    "name": "key",
    "status": 400,
    "summary": "A misspelt key",
    "body": {
      "success": false,
      "error": 'perpage: "perpage" is not a known key, did you mean "per_page"',
    },
  },
  {
    "name": "primaryKey",
    "status": 400,
    "summary": "An update of the primary key",
    "body": {
      "success": false,
      "error": 'fields.id: Column "id" is a primary key column and cannot be set',
    },
  },
  {
    "name": "pageToken",
    "status": 400,
    "summary": "A page token that was not issued",
    "body": {
      "success": false,
      "error":
        "after: The page token was not issued here, expected the address from the Link header of the page before, and the same body",
    },
  },
  {
    "name": "noToken",
    "status": 401,
    "summary": "No token",
    "body": {
      "success": false,
      "error": 'Authorization: no API token, expected "Bearer <API token>"',
    },
  },
  {
    "name": "invalidToken",
    "status": 401,
    "summary": "An invalid token",
    "body": {
      "success": false,
      "error": "Authorization: the API token is not valid, expected a current one",
    },
  },
  {
    "name": "credentials",
    "status": 403,
    "summary": "A table that holds credentials",
    "body": {
      "success": false,
      "error": 'table: "user_passwords" is not readable through the integration API',
    },
  },
  {
    "name": "scope",
    "status": 403,
    "summary": "A token that allows only queries",
    "body": { "success": false, "error": 'The token does not grant the operation "update"' },
  },
  {
    "name": "table",
    "status": 404,
    "summary": "No such table",
    "body": { "success": false, "error": 'table: "order" was not found' },
  },
  {
    "name": "noRow",
    "status": 404,
    "summary": "No row matches a single update",
    "body": { "success": false, "error": "No row matches the filters", "matched": 0 },
  },
  {
    "name": "silence",
    "status": 408,
    "summary": "A body that does not arrive",
    "body": {
      "success": false,
      "error": "body: it did not arrive in time, expected all of it within 100 ms",
    },
  },
  {
    "name": "severalRows",
    "status": 409,
    "summary": "Several rows match a single update",
    "body": {
      "success": false,
      "error":
        "59 rows match the filters, expected exactly one; to update them all, use the bulk operation (PATCH …/records/bulk)",
      "matched": 59,
    },
  },
  {
    "name": "tooManyRows",
    "status": 409,
    "summary": "More rows than max-affected",
    "body": {
      "success": false,
      "error": "59 rows match the filters, more than max-affected=1; nothing was changed",
    },
  },
  {
    "name": "cursor",
    "status": 410,
    "summary": "A cursor that is no longer valid",
    "body": {
      "success": false,
      "error":
        "since: The table was altered, clients see other rows or columns of it, or its feed was off, since it was given, begin again with since=start",
    },
  },
  {
    "name": "version",
    "status": 412,
    "summary": "A row that was written since it was read",
    "body": {
      "success": false,
      "error": "If-Match: the row has another version by now, read it again; nothing was changed",
    },
  },
  {
    "name": "size",
    "status": 413,
    "summary": "A body that is too large",
    "body": { "success": false, "error": "body: it is too large, expected at most 1048576 bytes" },
  },
  {
    "name": "mediaType",
    "status": 415,
    "summary": "A form instead of JSON",
    "body": {
      "success": false,
      "error":
        'Content-Type: "application/x-www-form-urlencoded" is not supported, expected application/json in UTF-8',
    },
  },
  {
    "name": "usedKey",
    "status": 422,
    "summary": "An Idempotency-Key that was used for another request",
    "body": {
      "success": false,
      "error":
        'Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324" was used for another request, expected a new key',
    },
  },
  {
    "name": "rateLimit",
    "status": 429,
    "summary": "Too many requests",
    "body": {
      "success": false,
      "error":
        "The rate limit of this token is reached, expected at most 1 requests in 60 s, try again in 60 s",
    },
  },
  {
    "name": "internal",
    "status": 500,
    "summary": "An error in the service",
    "body": { "success": false, "error": "Internal error" },
  },
  {
    "name": "locked",
    "status": 503,
    "summary": "A row that stays locked",
    "body": {
      "success": false,
      "error": "The rows are locked by another transaction; nothing was changed",
    },
  },
  {
    "name": "slow",
    "status": 504,
    "summary": "A statement that takes too long",
    "body": { "success": false, "error": "The database took too long; nothing was changed" },
  },
];
