import type { Table } from "../../catalogue/catalogue.ts";
import type { Access } from "../../tokens/token.ts";
import { describeParameters, isInQuery, listHeaderParameters } from "./parameters.ts";
import { describeAnswers, describeAnyTable, describeHeads } from "./response_schemas.ts";
import { type Brevity, chooseBrevity } from "./brevity.ts";
import { describeBody, describeOperation } from "./describe_operation.ts";
import { type JsonSchema, refer } from "./json_schema.ts";
import { DESCRIBED_OPERATIONS, type DescribedOperation } from "./operations.ts";
import { describeQueryBody } from "./request_schemas.ts";
import { describeErrors, describeHeaders, describeShared } from "./responses.ts";
import { describeTables } from "./table_schemas.ts";
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
 * else with each of the holder's tables, typed. Of many tables it says less of each, and refers to what
 * they share.
 * @see R32, H26
 */
export function describeService(holder?: Holder, given?: Brevity): JsonSchema {
  const tables = holder?.tables ?? [];
  const brevity = given ?? chooseBrevity(tables);
  const isBrief = brevity !== "full";
  const isTerse = brevity === "terse";
  const described = DESCRIBED_OPERATIONS.map((operation) => ({
    operation,
    paths: describePaths(operation, { holder, brevity }),
  })).filter(({ paths }) => paths.length > 0);
  const hasFeeds = holder === undefined || tables.some(({ feed }) => feed !== undefined);
  const queries = tables.length > 0 && holder?.access.scopes.includes("query") === true;
  const hasUpdates = holder === undefined ||
    (holder.access.scopes.includes("update") && tables.some(({ writable }) => writable));
  // Of many tables, the operations on a table share one error.
  const listing = described.map(({ operation }) => operation)
    .filter((operation) => !isBrief || !isOfTable(operation));
  const errors = new Set(listing.flatMap((operation) => operation.errors));
  return {
    openapi: "3.1.0",
    info: {
      title: holder === undefined ? "Rowgate" : `Rowgate for ${holder.access.tenant}`,
      version: INTERFACE_VERSION,
      description: isBrief
        ? [DESCRIPTION, listOperations(), ...(isTerse ? [listHeaderParameters()] : [])].join("\n\n")
        : DESCRIPTION,
      contact: { name: "The operator of this service" },
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
    paths: groupByPath(described.flatMap(({ paths }) => paths)),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "rg_…" } },
      headers: describeHeaders(isBrief ? errors : undefined),
      parameters: describeParameters(described.flatMap(({ operation }) => [
        ...operation.preferences.filter((name) => !isTerse || isInQuery(name)),
        ...(operation.path.includes("{id}") ? ["Webhook" as const] : []),
        ...(holder === undefined || isBrief && operation.id === "getFields"
          ? ["Table" as const]
          : []),
      ])),
      responses: {
        ...describeErrors(errors),
        ...(isBrief && describeShared({ updates: hasUpdates, changes: isTerse && hasFeeds })),
      },
      ...(isBrief && {
        requestBodies: {
          ...(queries && { Query: describeBody(refer("Query")) }),
          ...(isTerse && hasUpdates && { Batch: describeBody(refer("Batch")) }),
        },
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

/** Describes queries of any table, or what those of the holder's tables refer to. */
function describeQueries(ofAnyTable: boolean): Readonly<Record<string, JsonSchema>> {
  const { Query, SortItem, Group, Filter, ...parts } = describeQueryBody();
  return ofAnyTable
    ? { ...parts, Query: Query!, SortItem: SortItem!, Group: Group!, Filter: Filter! }
    : parts;
}

/** What the operations of a table do, said once for all tables. */
function listOperations(): string {
  return DESCRIBED_OPERATIONS.filter(({ path }) => path.includes("{table}"))
    .map(({ summary, description }) => `- ${summary}: ${description}`).join("\n");
}

/** Reports whether a document of many tables has an operation once for each of them. */
function isOfTable({ id, path }: DescribedOperation): boolean {
  return path.includes("{table}") && id !== "getFields";
}

/** What the operations of a terse document refer to, of any table. */
function pickShared(
  { updates, changes }: { readonly updates: boolean; readonly changes: boolean },
): Readonly<Record<string, JsonSchema>> {
  const { Record: record, Update, Batch, Changes } = describeAnyTable();
  return {
    ...(updates && { Update: Update!, Batch: Batch! }),
    ...(changes && { Record: record!, Changes: Changes! }),
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
  { holder, brevity }: { readonly holder: Holder | undefined; readonly brevity: Brevity },
): [string, JsonSchema][] {
  if (operation.scope !== undefined && holder?.access.scopes.includes(operation.scope) === false) {
    return [];
  }
  const isCommon = !operation.path.includes("{table}") ||
    brevity !== "full" && !isOfTable(operation);
  if (holder === undefined || isCommon) {
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
      { [operation.method]: describeOperation(operation, { table, brevity }) },
    ]);
}
