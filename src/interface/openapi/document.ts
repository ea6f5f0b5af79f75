import { describeParameters, isInQuery, listHeaderParameters } from "./parameters.ts";
import { describeAnswers, describeAnyTable, describeHeads } from "./response_schemas.ts";
import { type Brevity, chooseBrevity } from "./brevity.ts";
import { describeBody, listHeaders } from "./describe_operation.ts";
import { describePaths, isOnTables, isShared, listChoices, nameChoice } from "./describe_paths.ts";
import type { Holder } from "./holder.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import type { DescribedOperation } from "./described_operation.ts";
import { DESCRIBED_OPERATIONS } from "./operations.ts";
import { describeQueryBody } from "./request_schemas.ts";
import { describeErrors, describeHeaders, describeShared } from "./responses.ts";
import { describeTables } from "./table_schemas.ts";
import { describeWebhookBodies } from "./webhook_schemas.ts";

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
  const described = DESCRIBED_OPERATIONS.map((operation) => ({
    operation,
    paths: describePaths(operation, extent),
  })).filter(({ paths }) => paths.length > 0);
  const operations = described.map(({ operation }) => operation);
  const has = (id: string) => operations.some((operation) => operation.id === id);
  const [hasFeeds, hasUpdates] = [has("listChanges"), has("updateSingleRecord")];
  const shared = operations.filter((operation) => isShared(operation, extent));
  const ofEachTable = operations.filter((operation) => !shared.includes(operation));
  // With many tables, the operations of each table share one error, and have no headers.
  const detailed = isBrief ? shared : operations;
  const errors = new Set(detailed.flatMap((operation) => operation.errors));
  const top = [listOperations(ofEachTable), ...(isTerse ? [listHeaderParameters()] : [])];
  return {
    openapi: "3.1.0",
    info: {
      title: holder === undefined ? "Rowgate" : `Rowgate for ${holder.access.tenant}`,
      version: INTERFACE_VERSION,
      description: isBrief ? [DESCRIPTION, ...top].join("\n\n") : DESCRIPTION,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This server" }],
    security: [{ token: [] }],
    tags: [
      ...TAGS.filter(({ name }) => shared.some(({ tag }) => tag === name)),
      ...tables.map(({ name, comment }) => ({
        name,
        description: comment ?? `The table ${name}`,
      })),
    ],
    paths: groupByPath(described.flatMap(({ paths }) => paths)),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "rg_…" } },
      headers: describeHeaders(errors, detailed.flatMap(listHeaders)),
      parameters: describeParameters([
        ...shared.flatMap(({ preferences }) => preferences),
        ...ofEachTable.flatMap(({ preferences }) =>
          isTerse ? preferences.filter(isInQuery) : preferences
        ),
        ...(has("getWebhook") ? ["Webhook" as const] : []),
        ...shared.filter(isOnTables).map((operation) => nameChoice(operation, holder)),
      ], holder === undefined ? {} : listChoices(holder)),
      responses: {
        ...describeErrors(errors),
        ...(isBrief && describeShared(ofEachTable.map(({ response }) => response))),
      },
      ...(isBrief && has("queryRecords") && {
        requestBodies: { Query: describeBody(refer("Query")) },
      }),
      schemas: {
        ...describeAnswers(),
        ...(holder?.access.scopes.includes("webhooks") !== false && describeWebhookBodies()),
        ...(holder === undefined
          ? describeAnyTable()
          : describeHeads({ changes: hasFeeds && !isTerse })),
        ...(isTerse && pickShared({ updates: hasUpdates, changes: hasFeeds })),
        ...describeQueries(holder === undefined || isBrief),
        ...describeTables(tables, brevity),
      },
    },
  };
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

/** Picks the schemas that the shared operations of a terse document refer to. */
function pickShared(
  { updates, changes }: { readonly updates: boolean; readonly changes: boolean },
): Readonly<Record<string, JsonSchema>> {
  const { Record: record, Update, Batch, Changes } = describeAnyTable();
  return {
    ...(updates && { Update: Update!, Batch: Batch! }),
    ...(changes && { Record: record!, Changes: Changes! }),
  };
}

/** Merges the operations of each path, which may have several methods. */
function groupByPath(entries: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const [path, methods] of entries) paths[path] = { ...paths[path], ...methods };
  return paths;
}
