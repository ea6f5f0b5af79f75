import { ERROR_EXAMPLES } from "./error_examples.ts";
import type { ErrorStatus } from "../../../operations/description.ts";
import { type JsonSchema, refer } from "../../../operations/schemas/json_schema.ts";

/** Name in the document, meaning, and the headers beyond those of every response. */
const ERRORS: Readonly<Record<ErrorStatus, readonly [string, string, ...string[]]>> = {
  400: [
    "BadRequest",
    "The request is invalid: the message names the path, what was found and what was expected",
  ],
  401: ["Unauthorized", "The token is missing or invalid", "WWW-Authenticate"],
  403: ["Forbidden", "The table holds credentials, or the token does not allow the operation"],
  404: ["NotFound", "No such table for this token, or no row matches a single update"],
  408: ["RequestTimeout", "The body did not arrive in time"],
  409: [
    "Conflict",
    "Several rows match a single update, the change conflicts with other rows, or the first request " +
    "with the `Idempotency-Key` is still running",
  ],
  410: [
    "Gone",
    "The cursor is no longer valid: begin again with `since=start`. For a query, the write of its " +
    "`Rowgate-Position` may have been lost in a failover of the database",
  ],
  412: [
    "PreconditionFailed",
    "The row was written since the version in `If-Match`, or rows of the table have no versions; " +
    "nothing was changed",
  ],
  413: ["ContentTooLarge", "The body is too large"],
  422: ["UnprocessableContent", "The `Idempotency-Key` was used for another request"],
  415: ["UnsupportedMediaType", "The body is not declared as JSON in UTF-8"],
  429: ["TooManyRequests", "The rate limit of the token is reached", "Retry-After"],
  500: ["InternalError", "An error in the service: report the request id to its operator"],
  503: [
    "ServiceUnavailable",
    "The database is unavailable or busy, or a row stays locked",
    "Retry-After",
  ],
  504: ["GatewayTimeout", "The statement took too long; nothing was changed"],
};

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  "X-Request-Id": describeHeader(
    "The id that the request sent if it is well-formed, else a new one",
  ),
  "RateLimit": describeHeader('What remains of the rate limit: `"default";r=599;t=60`'),
  "RateLimit-Policy": describeHeader('The rate limit: `"default";q=600;w=60`'),
  "Preference-Applied": describeHeader("The preferences that were applied"),
  "Idempotent-Replayed": describeHeader(
    "`true` where the answer is one that was kept for the `Idempotency-Key`",
  ),
  "Rowgate-Position": describeHeader(
    "Where the write can be read, if queries go to standbys. A query that sends it back sees the write",
  ),
  "Link": describeHeader(
    'The next page of a query with `Prefer: page-token`: `<…?after=…>; rel="next"`. Send the same ' +
      "body to that address. The last page has no such header",
  ),
  "Rowgate-Order": describeHeader(
    "`unstable` on a page above 1 without `sort`: the database may give the rows in another order on " +
      "each page, so pages can overlap and leave rows out",
  ),
  "ETag": describeHeader(
    "Send it back in `If-None-Match`: the response is 304 if nothing has changed",
  ),
  "Retry-After": describeHeader("Seconds to wait before trying again"),
  "WWW-Authenticate": describeHeader(
    '`Bearer`, with `error="invalid_token"` if a token was sent',
  ),
};
const ALWAYS = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

function describeHeader(description: string): JsonSchema {
  return { description, schema: { type: "string" } };
}

/** Describes the headers of responses, by name: those of every response and of errors, and more. */
export function describeHeaders(
  errors: ReadonlySet<ErrorStatus>,
  more: readonly string[],
): Readonly<Record<string, JsonSchema>> {
  const used = [...ALWAYS, ...more, ...[...errors].flatMap((status) => ERRORS[status].slice(2))];
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.includes(name)));
}

/**
 * Describes the error responses by name, each with real examples.
 * @see docs/specification/errors.md
 */
export function describeErrors(
  used: ReadonlySet<ErrorStatus>,
): Readonly<Record<string, JsonSchema>> {
  const described = Object.entries(ERRORS).filter(([status]) =>
    used.has(Number(status) as ErrorStatus)
  );
  return Object.fromEntries(
    described.map(([status, [name, description, ...headers]]) => {
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

/** The one error of each operation in a document of many tables. */
const ANY_ERROR = ["Failed", "The request was rejected, or the service failed; `error` says why"];

/** Describes the responses that tables share, by name: errors, and those of the given schemas. */
export function describeShared(
  responses: readonly string[],
): Readonly<Record<string, JsonSchema>> {
  const all = [[...ANY_ERROR, "Error"], ...responses.map((name) => [name, "Success", name])];
  return Object.fromEntries(
    all.map(([name, description, schema]) => [name, {
      description,
      headers: referHeaders(ALWAYS),
      content: { "application/json": { schema: refer(schema!) } },
    }]),
  );
}

/** Refers to a response that is the same for all tables. */
export function referShared(name: string): JsonSchema {
  return { $ref: `#/components/responses/${name}` };
}

/** Refers to the errors that all operations share. */
export function referAnyErrors(isTerse: boolean): Readonly<Record<string, JsonSchema>> {
  const error = { $ref: `#/components/responses/${ANY_ERROR[0]}` };
  return isTerse ? { "4XX": error } : { "4XX": error, "5XX": error };
}

/** Refers to the error responses of an operation, by status. */
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

/** Describes a successful response. */
export function describeSuccess(
  schema: JsonSchema,
  { description, headers, otherForms, example }: {
    readonly description: string;
    readonly headers: readonly string[];
    /** Examples of other media types, as texts. */
    readonly otherForms?: Readonly<Record<string, string>> | undefined;
    readonly example?: unknown;
  },
): JsonSchema {
  return {
    description,
    headers: referHeaders([...ALWAYS, ...headers]),
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
    // Not in `content`: generated clients would give a page or a text, and type neither.
    ...(otherForms !== undefined && { "x-other-media-types": otherForms }),
  };
}

function referHeaders(names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
