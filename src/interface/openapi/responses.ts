import { ERROR_EXAMPLES } from "./error_examples.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import type { ErrorStatus } from "./operations.ts";

/** Name in the document, meaning, and headers beyond those of every answer. */
const ERRORS: Readonly<Record<ErrorStatus, readonly [string, string, ...string[]]>> = {
  400: [
    "BadRequest",
    "The request is wrong: the message names the path, what was found and expected",
  ],
  401: ["Unauthorized", "No token, or none that is valid", "WWW-Authenticate"],
  403: ["Forbidden", "A credential table, or an operation that the token does not allow"],
  404: ["NotFound", "No such table for this token, or no row matches a single update"],
  408: ["RequestTimeout", "The body did not arrive in time"],
  409: ["Conflict", "Several rows match a single update, or the change conflicts with other rows"],
  413: ["ContentTooLarge", "The body is larger than the server takes"],
  415: ["UnsupportedMediaType", "The body is not declared as JSON in UTF-8"],
  429: ["TooManyRequests", "The rate limit of the token", "Retry-After"],
  500: ["InternalError", "A fault of the service; give its operator the request id"],
  503: ["ServiceUnavailable", "The database is away or busy, or a row stays locked", "Retry-After"],
  504: ["GatewayTimeout", "The statement took too long; nothing was changed"],
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  "X-Request-Id": describeHeader(
    "The request's own id when it sent a well-formed one, else a new one",
  ),
  "RateLimit": describeHeader('What is left of the limit: `"default";r=599;t=60`'),
  "RateLimit-Policy": describeHeader('The limit: `"default";q=600;w=60`'),
  "Preference-Applied": describeHeader("The preferences that were honoured"),
  "ETag": describeHeader("Send it back in `If-None-Match`, and 304 says that nothing changed"),
  "Retry-After": describeHeader("Seconds to wait before the next try"),
  "WWW-Authenticate": describeHeader(
    '`Bearer`, with `error="invalid_token"` when a token was sent',
  ),
};
const ALWAYS = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

function describeHeader(description: string): JsonSchema {
  return { description, schema: { type: "string" } };
}

/** Gives the document's headers by name. */
export function describeHeaders(): Readonly<Record<string, JsonSchema>> {
  return HEADERS;
}

/**
 * Gives the document's error responses by name, each with what was really answered.
 * @see docs/specification/errors.md
 */
export function describeErrors(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, [name, description, ...headers]]) => {
      const examples = ERROR_EXAMPLES.filter((example) => String(example.status) === status);
      const shown = examples.map(({ name, summary, body }) => [name, { summary, value: body }]);
      const response = {
        description,
        headers: referHeaders([...ALWAYS, ...headers]),
        content: {
          "application/json": { schema: refer("Error"), examples: Object.fromEntries(shown) },
        },
      };
      return [name, response];
    }),
  );
}

/** Points to the error responses of an operation, in the order of their status. */
export function referErrors(
  statuses: readonly ErrorStatus[],
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    [...statuses].sort().map((status) => [
      status,
      { $ref: `#/components/responses/${ERRORS[status][0]}` },
    ]),
  );
}

/** Gives the response of success. */
export function describeSuccess(
  schema: JsonSchema,
  { description, headers, example }: {
    readonly description: string;
    readonly headers: readonly string[];
    readonly example?: unknown;
  },
): JsonSchema {
  return {
    description,
    headers: referHeaders([...ALWAYS, ...headers]),
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
  };
}

function referHeaders(names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
