import {
  DEFAULT_CHANGES,
  MAX_CHANGES,
  MAX_PAGE_TOKEN_CHARACTERS,
  MAX_WAIT_SECONDS,
} from "../../basics/errors/limits.ts";
import { type JsonSchema, refer } from "./json_schema.ts";

/** A parameter by its name in the document; two of them are `Prefer`. */
export type ParameterName = keyof typeof PARAMETERS;

/**
 * Preferences and parameters of query strings. Defaults are in the descriptions, because generators
 * of clients make a parameter with a `default` mandatory.
 */
const PARAMETERS = {
  Table: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table, as Get Tables lists it.",
    schema: refer("Name"),
    example: "orders",
  },
  WritableTable: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table that can be updated.",
    schema: refer("Name"),
  },
  CreatableTable: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table in which records can be created.",
    schema: refer("Name"),
  },
  MatchedTable: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table in which records can be matched by a unique key.",
    schema: refer("Name"),
  },
  DeletableTable: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table whose records can be deleted.",
    schema: refer("Name"),
  },
  TableWithFeed: {
    name: "table",
    in: "path",
    required: true,
    description: "The name of a table with a changes feed.",
    schema: refer("Name"),
  },
  Webhook: {
    name: "id",
    in: "path",
    required: true,
    description: "The id of a webhook.",
    schema: { type: "string" },
    example: "wh_0aB3dE6gH9jK2mN5",
  },
  UpdatePreferences: {
    name: "Prefer",
    in: "header",
    description:
      "`max-affected=N`: 409 and no change if more than N rows match. `tx=rollback`: run " +
      "the update with its triggers and constraints, then roll it back. `handling=strict`: 400 for an " +
      "unknown preference. `Preference-Applied` names the preferences that were applied.",
    schema: { type: "string" },
    example: "tx=rollback, max-affected=10",
  },
  SinglePreferences: {
    name: "Prefer",
    in: "header",
    description:
      "Those of an update, and `return=representation`: `record` is the row as it is stored now, " +
      "after triggers, and `ETag` its version.",
    schema: { type: "string" },
    example: "return=representation",
  },
  BatchPreferences: {
    name: "Prefer",
    in: "header",
    description:
      "Those of an update, and `return=representation`: each result has in `record` the row as it " +
      "is stored now, after triggers; `on-error=continue`: an update that is refused does not undo " +
      "the others.",
    schema: { type: "string" },
    example: "return=representation",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "The `ETag` of the record as it was read: 412 and no change if the row was written since. " +
      "`*` is any version.",
    schema: { type: "string" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The `ETag` of the record as it was read: 304 without a body if it is the same.",
    schema: { type: "string" },
  },
  Equalities: {
    name: "filters",
    in: "query",
    required: true,
    description: "A column and the value that it must equal; at least one, and all must match.",
    style: "form",
    explode: true,
    schema: { type: "object", additionalProperties: { type: "string" }, minProperties: 1 },
    example: { order_no: "A-7" },
  },
  Select: {
    name: "select",
    in: "query",
    description: "Columns of the record, separated by commas; all when left out.",
    schema: { type: "string" },
  },
  CreatePreferences: {
    name: "Prefer",
    in: "header",
    description: "`return=representation`: each of `results` has the `record` as it is stored. " +
      "`on-error=continue`: a record that is refused does not undo the others. `tx=rollback`: " +
      "do everything, triggers and constraints included, then roll it back. `handling=strict`: 400 for " +
      "an unknown preference. `Preference-Applied` names the preferences that were applied.",
    schema: { type: "string" },
    example: "return=representation",
  },
  DeletePreferences: {
    name: "Prefer",
    in: "header",
    required: true,
    description:
      "`max-affected=N` is required: 409 and nothing is deleted if more than N rows match. " +
      "`tx=rollback`: run the delete with its triggers and constraints, then roll it back. " +
      "`handling=strict`: 400 for an unknown preference. `Preference-Applied` names the preferences " +
      "that were applied.",
    schema: { type: "string" },
    example: "max-affected=10",
  },
  SingleDeletePreferences: {
    name: "Prefer",
    in: "header",
    description:
      "`return=representation`: `record` is the row as it was, and `ETag` its version. `tx=rollback`: " +
      "run the delete with its triggers and constraints, then roll it back. `handling=strict`: 400 for " +
      "an unknown preference. `Preference-Applied` names the preferences that were applied.",
    schema: { type: "string" },
    example: "return=representation",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A string in double quotes, of 1 to 255 characters, new for each update. The answer is " +
      "kept under it for a day, if it is 200, 404 or 409 with `matched`: when the same request is sent " +
      "again with the same key, the answer is the first one's, with `Idempotent-Replayed`, and nothing " +
      "is done again. 422 for another request with the key; 409 with `Retry-After` while the first " +
      "is running.",
    schema: { type: "string", minLength: 3 },
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  },
  QueryPreferences: {
    name: "Prefer",
    in: "header",
    description:
      "`count=none`: do not count the rows; `total` is null. `count=end`: the last line of an " +
      "export is the number of its records. `page-token`: the `Link` " +
      "header of the response leads to the next page, unless it was the last one; each page costs " +
      "the same, and a row that stays is given once. `handling=strict`: 400 for an unknown " +
      "preference. `Preference-Applied` names the preferences that were applied.",
    schema: { type: "string" },
    example: "page-token, count=none",
  },
  After: {
    name: "after",
    in: "query",
    description:
      "The page token of the `Link` header of the page before. The body must be the same " +
      "as there; only `select` and `per_page` may differ, and `page` is left out.",
    schema: { type: "string", maxLength: MAX_PAGE_TOKEN_CHARACTERS },
  },
  Position: {
    name: "Rowgate-Position",
    in: "header",
    description: "This header of the response to an update, sent back: the query sees the update.",
    schema: { type: "string" },
  },
  Since: {
    name: "since",
    in: "query",
    description: "`start`: every row first. `now`: what changes from now on. Else a `cursor`. " +
      "`start` if left out.",
    schema: { type: "string" },
  },
  Limit: {
    name: "limit",
    in: "query",
    description: `Changes in the answer at most; ${DEFAULT_CHANGES} if left out.`,
    schema: { type: "integer", minimum: 1, maximum: MAX_CHANGES },
  },
  Wait: {
    name: "wait",
    in: "query",
    description: "Seconds to wait for a change, if there is none yet; 0 if left out.",
    schema: { type: "integer", minimum: 0, maximum: MAX_WAIT_SECONDS },
  },
  Fields: {
    name: "fields",
    in: "query",
    description: "Columns of the records, separated by commas; all when left out.",
    schema: { type: "string" },
    example: "order_no,status",
  },
} satisfies Readonly<Record<string, JsonSchema>>;

/** Reports whether a parameter is in the query string; others are headers, or in the path. */
export function isInQuery(name: ParameterName): boolean {
  return PARAMETERS[name].in === "query";
}

/** Refers to a parameter. */
export function referParameter(name: ParameterName): JsonSchema {
  return { $ref: `#/components/parameters/${name}` };
}

/** Describes parameters, by name; some of them with all the values that they can have. */
export function describeParameters(
  names: Iterable<ParameterName>,
  choices: Readonly<Partial<Record<ParameterName, readonly string[]>>>,
): Readonly<Record<string, JsonSchema>> {
  const describe = (name: ParameterName): JsonSchema => {
    const choice = choices[name];
    if (choice === undefined) return PARAMETERS[name];
    return { ...PARAMETERS[name], schema: { type: "string", enum: choice } };
  };
  return Object.fromEntries([...new Set(names)].map((name) => [name, describe(name)]));
}

/** Lists the headers that requests can have, for documents whose operations do not. */
export function listHeaderParameters(): string {
  const { QueryPreferences, UpdatePreferences, SinglePreferences, IfMatch } = PARAMETERS;
  const { IdempotencyKey, Position } = PARAMETERS;
  return [
    "Headers of requests, which the operations of each table do not list:",
    `- \`Prefer\` of a query: ${QueryPreferences.description}`,
    `- \`Prefer\` of an update: ${UpdatePreferences.description}`,
    `- \`Prefer\` of a single update and a batch: ${SinglePreferences.description}`,
    `- \`${IfMatch.name}\` of a single update: ${IfMatch.description}`,
    `- \`${IdempotencyKey.name}\` of an update: ${IdempotencyKey.description}`,
    `- \`${Position.name}\` of a query: ${Position.description}`,
  ].join("\n");
}
