import type { Table } from "../../catalogue/catalogue.ts";
import type { Access } from "../../tokens/token.ts";
import {
  describeAnswers,
  describeAnyTable,
  describeChanges,
  describePage,
} from "./response_schemas.ts";
import { EXAMPLES } from "./examples.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import { DESCRIBED_OPERATIONS, type DescribedOperation, type ErrorStatus } from "./operations.ts";
import { describeQueryBody } from "./request_schemas.ts";
import { describeErrors, describeHeaders, describeSuccess, referErrors } from "./responses.ts";
import { describeTable } from "./table_schemas.ts";
import { WEBHOOK_EXAMPLES } from "./webhook_examples.ts";
import { describeWebhookBodies } from "./webhook_schemas.ts";

/** The token that a document is made for. */
export interface Holder {
  readonly access: Access;
  /** The tables that the token gives access to. */
  readonly tables: readonly Table[];
}

/** The version of the API, not of the program. Paths carry none: changes to the API are additive. */
const INTERFACE_VERSION = "1";

const DESCRIPTION =
  "Read and update the rows of one tenant over HTTP: queries with nested filters, " +
  "updates of exactly one row or of many.\n\nEvery request carries an API token: `Authorization: " +
  "Bearer <API token>`. It reads and writes only rows of the token's tenant. Requested with a token, " +
  "`GET /openapi.json` describes the tables that the token gives access to.";

/**
 * Describes the service as an OpenAPI 3.1 document: without a holder with `{table}` in its paths,
 * else with each of the holder's tables, typed.
 * @see R32
 */
export function describeService(holder?: Holder): JsonSchema {
  const tables = holder?.tables ?? [];
  const hasFeeds = holder === undefined || tables.some(({ feed }) => feed !== undefined);
  const queries = tables.length > 0 && holder?.access.scopes.includes("query") === true;
  const hasUpdates = holder === undefined ||
    (holder.access.scopes.includes("update") && tables.some(({ writable }) => writable));
  const unused: readonly ErrorStatus[] = [
    ...(hasFeeds || queries ? [] : [410 as const]),
    ...(hasUpdates ? [] : [422 as const]),
  ];
  return {
    openapi: "3.1.0",
    info: {
      title: holder === undefined ? "Rowgate" : `Rowgate for ${holder.access.tenant}`,
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This server" }],
    security: [{ token: [] }],
    tags: [
      ...(holder === undefined ? [{ name: "Records", description: "Query and update rows" }] : []),
      { name: "Catalogue", description: "Tables, columns and the token itself" },
      ...(holder?.access.scopes.includes("webhooks") === false
        ? []
        : [{ name: "Webhooks", description: "Changes that are sent to an address" }]),
      ...tables.map(({ name, comment }) => ({
        name,
        description: comment ?? `The table ${name}`,
      })),
    ],
    paths: groupByPath(
      DESCRIBED_OPERATIONS.flatMap((operation) => describePaths(operation, holder)),
    ),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "rg_…" } },
      headers: describeHeaders(),
      responses: describeErrors(new Set(unused)),
      schemas: {
        ...describeAnswers(),
        ...(holder?.access.scopes.includes("webhooks") !== false && describeWebhookBodies()),
        ...(holder === undefined && describeAnyTable()),
        ...describeQueryBody(),
        ...Object.assign({}, ...tables.map(describeTable)),
      },
    },
  };
}

/** A path may have several methods. */
function groupByPath(entries: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const [path, methods] of entries) paths[path] = { ...paths[path], ...methods };
  return paths;
}

/** One path, or one for each table of the holder that allows the operation. */
function describePaths(
  operation: DescribedOperation,
  holder: Holder | undefined,
): [string, JsonSchema][] {
  if (operation.scope !== undefined && holder?.access.scopes.includes(operation.scope) === false) {
    return [];
  }
  if (holder === undefined || !operation.path.includes("{table}")) {
    return [[operation.path, { [operation.method]: describeOperation(operation) }]];
  }
  const { scopes } = holder.access;
  const writes = operation.body !== undefined && operation.body !== "Query";
  const needsScope = operation.body !== undefined || operation.id === "listChanges";
  if (needsScope && !scopes.includes(writes ? "update" : "query")) return [];
  return holder.tables.filter((table) => !writes || table.writable)
    .filter((table) => operation.id !== "listChanges" || table.feed !== undefined)
    .map((table) => [
      operation.path.replace("{table}", table.name),
      { [operation.method]: describeOperation(operation, table) },
    ]);
}

function describeOperation(operation: DescribedOperation, table?: Table): JsonSchema {
  const { id, tag, summary, description, path, body, preferences, errors } = operation;
  const of = table === undefined ? "" : `${table.name}.`;
  const parameters = [
    ...(table === undefined && path.includes("{table}") ? [TABLE] : []),
    ...(path.includes("{id}") ? [ID] : []),
    ...preferences,
  ];
  const example = [...EXAMPLES, ...WEBHOOK_EXAMPLES].find((each) =>
    each.operation === id && table === undefined
  );
  const schema = table === undefined
    ? refer(operation.response)
    : describeResponse(operation, refer(`${of}Record`));
  return {
    operationId: table === undefined ? id : `${id}_${table.name}`,
    tags: [table?.name ?? tag],
    summary: table === undefined ? summary : `${summary} of ${table.name}`,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: refer(`${of}${body}`),
            ...(example?.body !== undefined && { example: example.body }),
          },
        },
      },
    }),
    responses: {
      [operation.status ?? 200]: describeSuccess(schema, {
        description: "Success",
        headers: operation.id === "listChanges"
          ? []
          : preferences.length > 0
          ? ["Preference-Applied", ...operation.headers ?? []]
          : body === undefined
          ? ["ETag"]
          : [],
        otherForms: operation.otherForms,
        example: example?.response,
      }),
      ...referErrors(errors),
    },
  };
}

function describeResponse({ id, response }: DescribedOperation, record: JsonSchema): JsonSchema {
  if (response === "Page") return describePage(record);
  // `fields` may have left columns out.
  return id === "listChanges" ? describeChanges(record) : refer(response);
}

const ID: JsonSchema = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of a webhook.",
  schema: { type: "string" },
  example: "wh_0aB3dE6gH9jK2mN5",
};

const TABLE: JsonSchema = {
  name: "table",
  in: "path",
  required: true,
  description: "The name of a table, as Get Tables lists it.",
  schema: refer("Name"),
  example: "orders",
};
