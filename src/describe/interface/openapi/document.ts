import type { DescribedOperation } from "../../../operations/operation.ts";
import { OPERATIONS } from "../../../operations/operations.ts";
import { type JsonSchema, refer } from "../../../operations/schemas/json_schema.ts";
import {
  describeParameters,
  isInQuery,
  listHeaderParameters,
} from "../../../operations/schemas/parameters.ts";
import { describeQueryBody } from "../../../operations/schemas/request_schemas.ts";
import {
  describeAnyTable,
  describeHeads,
  ERROR,
} from "../../../operations/schemas/response_schemas.ts";
import { type Brevity, chooseBrevity } from "./brevity.ts";
import { describeBody } from "./describe_operation.ts";
import {
  describePaths,
  isOnTables,
  isShared,
  listPathChoices,
  nameChoice,
} from "./describe_paths.ts";
import type { Holder } from "./holder.ts";
import { describeErrors, describeHeaders, describeShared } from "./responses.ts";
import { describeTableSchemas } from "./table_schemas.ts";

/**
 * The version of the API, not of the program. Paths have no version, since changes to the API are
 * additive.
 */
const INTERFACE_VERSION = "1";

const DESCRIPTION =
  "Read and update the rows of one tenant over HTTP: queries with nested filters, " +
  "updates of exactly one row or of many.\n\nEvery request carries an API token: `Authorization: " +
  "Bearer <API token>`. It reads and writes only rows of the token's tenant. Requested with a token, " +
  "`GET /openapi.json` describes the tables that the token gives access to.";

/** The groups of operations that do not belong to one table. */
const TAGS: readonly { readonly name: DescribedOperation["tag"]; readonly description: string }[] =
  [
    { name: "Records", description: "Query and update rows" },
    { name: "Catalogue", description: "Tables, columns and the token itself" },
    { name: "Webhooks", description: "Changes that are sent to an address" },
  ];

/**
 * Describes the service as an OpenAPI 3.1 document: with each table of the holder, typed, or without
 * a holder with `{table}` in its paths. If there are many tables, it describes less of each, and
 * refers to what they share.
 * @see R32, H26
 */
export function describeService(holder?: Holder, given?: Brevity): JsonSchema {
  const tables = holder?.tables ?? [];
  const brevity = given ?? chooseBrevity(tables);
  const isBrief = brevity !== "full";
  const isTerse = brevity === "terse";
  const extent = { holder, brevity };
  const described = OPERATIONS.map((operation) => ({
    operation,
    paths: describePaths(operation, extent),
  })).filter(({ paths }) => paths.length > 0);
  const operations = described.map(({ operation }) => operation);
  const answers = (name: string) => operations.some(({ response }) => response === name);
  const shared = operations.filter((operation) => isShared(operation, extent));
  const ofEachTable = operations.filter((operation) => !shared.includes(operation));
  // With many tables, the operations of each table share one error, and have no headers.
  const detailed = isBrief ? shared : operations;
  const errors = new Set(detailed.flatMap((operation) => operation.errors));
  const top = [listOperations(ofEachTable), ...(isTerse ? [listHeaderParameters()] : [])];
  return {
    openapi: "3.1.0",
    info: describeInfo(holder, isBrief ? [DESCRIPTION, ...top] : [DESCRIPTION]),
    servers: [{ url: "/", description: "This server" }],
    security: [{ token: [] }],
    tags: [
      ...TAGS.filter(({ name }) => shared.some(({ tag }) => tag === name)),
      ...tables.map(describeTag),
    ],
    paths: groupByPath(described.flatMap(({ paths }) => paths)),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "rg_…" } },
      headers: describeHeaders(errors, detailed.flatMap(({ headers = [] }) => headers)),
      parameters: describeParameters([
        ...shared.flatMap(({ parameters }) => parameters),
        ...ofEachTable.flatMap(({ parameters }) =>
          isTerse ? parameters.filter(isInQuery) : parameters
        ),
        ...(operations.some(({ path }) => path.includes(":id")) ? ["Webhook" as const] : []),
        ...shared.filter(isOnTables).map((operation) => nameChoice(operation, holder)),
      ], holder === undefined ? {} : listPathChoices(holder)),
      responses: {
        ...describeErrors(errors),
        ...(isBrief && describeShared(ofEachTable.flatMap(nameSharedResponse))),
      },
      ...(isBrief && answers("Page") && {
        requestBodies: { Query: describeBody(refer("Query")) },
      }),
      schemas: {
        ...collectSchemas(operations.filter(({ tag }) => tag !== "Webhooks")),
        Error: ERROR,
        ...collectSchemas(operations.filter(({ tag }) => tag === "Webhooks")),
        ...(holder === undefined
          ? describeAnyTable()
          : describeHeads({ changes: answers("Changes") && !isTerse })),
        ...(isBrief && pickShared(shared.filter(isOnTables))),
        ...describeQueries(holder === undefined || isBrief),
        ...describeTableSchemas(tables, { brevity, answers }),
      },
    },
  };
}

function describeInfo(holder: Holder | undefined, description: readonly string[]): JsonSchema {
  return {
    title: holder === undefined ? "Rowgate" : `Rowgate for ${holder.access.tenant}`,
    version: INTERFACE_VERSION,
    description: description.join("\n\n"),
    contact: { name: "The operator of this service" },
    license: { name: "MIT", identifier: "MIT" },
  };
}

/** Describes the group of the operations of a table. */
function describeTag({ name, comment }: Holder["tables"][number]): JsonSchema {
  return { name, description: comment ?? `The table ${name}` };
}

/** Describes queries of any table, or the schemas that queries of the holder's tables share. */
function describeQueries(ofAnyTable: boolean): Readonly<Record<string, JsonSchema>> {
  const { Query, SortItem, Group, Filter, ...parts } = describeQueryBody();
  return ofAnyTable
    ? { ...parts, Query: Query!, SortItem: SortItem!, Group: Group!, Filter: Filter! }
    : parts;
}

/** Describes what the operations of each table do, once for all tables. */
function listOperations(operations: readonly DescribedOperation[]): string {
  return operations.map(({ summary, description }) => `- ${summary}: ${description}`).join("\n");
}

/** Names the response of an operation that is the same for all tables. */
function nameSharedResponse({ response, responseOf }: DescribedOperation): readonly string[] {
  return responseOf === undefined ? [response] : [];
}

/** Collects the schemas that operations add. */
function collectSchemas(
  operations: readonly DescribedOperation[],
): Readonly<Record<string, JsonSchema>> {
  return Object.assign({}, ...operations.map(({ schemas }) => schemas));
}

/** Picks the schemas of any table that shared operations refer to. */
function pickShared(
  shared: readonly DescribedOperation[],
): Readonly<Record<string, JsonSchema>> {
  const all = describeAnyTable();
  const bodies = shared.flatMap(({ body }) => body === undefined ? [] : [body]);
  const responses = shared.flatMap(({ response, responseOf }) =>
    responseOf === undefined ? [] : ["Record", response]
  );
  const names = new Set([...bodies, ...responses]);
  return Object.fromEntries([...names].map((name) => [name, all[name]!]));
}

/** Merges the operations of each path, which may have several methods. */
function groupByPath(entries: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const [path, methods] of entries) paths[path] = { ...paths[path], ...methods };
  return paths;
}
