import type { Catalogue, Table } from "./catalogue/catalogue.ts";
import type { Config } from "./config/config.ts";
import type { Preferences } from "./http/preferences.ts";
import { describeInterface, describePublicInterface } from "./interface/describe_interface.ts";
import { describeFields, describeTables } from "./interface/describe_tables.ts";
import { parseJsonInSlices } from "./json/parse_json.ts";
import { fieldShapeOf } from "./plan/column.ts";
import { planQuery, type QueryPlan } from "./plan/query_plan.ts";
import { planUpdate, type UpdatePlan } from "./plan/update_plan.ts";
import type { Page } from "./records/read.ts";
import type { PlannedRequest, Records } from "./records/records.ts";
import { useOfQuery, useOfUpdate } from "./request/body_parts.ts";
import { parseQueryRequest } from "./request/query_request.ts";
import { parseUpdateRequest, type UpdateRequest } from "./request/update_request.ts";
import { type Access, describeAccess, type TokenScope } from "./tokens/token.ts";

/** Every operation that takes a token. @see S7 */
export type Operation = RecordsOperation | DescribingOperation;

interface Route {
  /** For logs, metrics and the audit. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PATCH";
  /** With `:table` where the operation is about one. */
  readonly path: string;
  /** True when the response may be asked for again with its ETag. */
  readonly cacheable?: boolean;
}

/**
 * An operation on the records of a table, as the steps from the text of its body to the JSON of its
 * response. They are methods, so that operations of different types fit into one list.
 */
export interface RecordsOperation<
  Request extends Pick<PlannedRequest, "document"> = Pick<PlannedRequest, "document">,
  Plan = unknown,
  Result = unknown,
> extends Route {
  /** What the token must allow; also decides which preferences there are. */
  readonly scope: TokenScope;
  /** @throws {ApiError} 400 the body is not JSON, or not of this shape */
  parse(text: string, context: Pick<PlanContext, "table" | "config">): Promise<Request>;
  /** @throws {ApiError} 400 a name or a value that the table does not admit */
  plan(request: Request, context: PlanContext): Plan;
  /**
   * @throws {ApiError} 400, 404 or 409 the rows do not allow it
   * @throws {DatabaseError}
   */
  perform(plan: Plan, records: Records, request: PlannedRequest): Promise<Result>;
  print(result: Result, plan: Plan, request: Request): Printed;
}

/** An operation that describes what a token may use, and touches no records. */
export interface DescribingOperation extends Route {
  readonly describe: (context: DescribeContext) => string;
  /** The response to a request without a token; undefined: 401. */
  readonly describePublicly?: () => string;
}

/** What a plan depends on besides the body. */
export interface PlanContext {
  readonly table: Table;
  readonly access: Access;
  readonly preferences: Preferences;
  readonly wideNumbersAsText: boolean;
  readonly requestId: string;
  readonly config: Config;
}

/** What a description depends on. */
export interface DescribeContext {
  readonly access: Access;
  readonly catalogue: Catalogue;
  /** The table in the path. */
  readonly table: Table | undefined;
}

/** The result of an operation. */
export interface Printed {
  /** The body, a JSON object as text. */
  readonly json: string;
  /** Rows read or written, for the log. */
  readonly rows?: number;
}

/** Checks the steps of an operation against each other. */
function defineOperation<Request extends Pick<PlannedRequest, "document">, Plan, Result>(
  operation: RecordsOperation<Request, Plan, Result>,
): Operation {
  return operation;
}

/** All of them: a new operation is one entry here, and a file in each room that it needs. */
export const OPERATIONS: readonly Operation[] = [
  defineOperation({
    name: "query_records",
    method: "POST",
    path: "/integration/tables/:table/query",
    scope: "query",
    async parse(text, { config: { maxPatternCharacters } }) {
      const json = await parseJsonInSlices(text, { useOf: useOfQuery() });
      return parseQueryRequest(json.value, json.issues, { maxPatternCharacters, source: json });
    },
    plan(request, { table, access, preferences: { count }, wideNumbersAsText, config }) {
      const { maxPageBytes } = config;
      return planQuery(request, { table, access, count, wideNumbersAsText, maxPageBytes });
    },
    perform: (plan, records, request) => records.read(plan, request),
    print: printPage,
  }),
  defineOperation({
    name: "update_single",
    method: "PATCH",
    path: "/integration/tables/:table/records/single",
    scope: "update",
    parse: parseUpdate,
    plan: (request, context) => planUpdateOf("update_single", request, context),
    perform: (plan, records, request) => records.updateOne(plan, request),
    print(updated, { table }, { source, document }) {
      const fields = source.print(document.fields);
      const json = `{"success":true,"table":${JSON.stringify(table.name)},"matched":1,` +
        `"updated":${updated},"fields":${fields}}`;
      return { json, rows: updated };
    },
  }),
  defineOperation({
    name: "update_bulk",
    method: "PATCH",
    path: "/integration/tables/:table/records/bulk",
    scope: "update",
    parse: parseUpdate,
    plan: (request, context) => planUpdateOf("update_bulk", request, context),
    perform: (plan, records, request) => records.updateMany(plan, request),
    print(updated, { table }) {
      const json = `{"success":true,"table":${JSON.stringify(table.name)},"updated":${updated}}`;
      return { json, rows: Number(updated) };
    },
  }),
  {
    name: "list_tables",
    method: "GET",
    path: "/integration/tables",
    describe: ({ catalogue, access }) => describeTables(catalogue, access),
    cacheable: true,
  },
  {
    name: "list_fields",
    method: "GET",
    path: "/integration/tables/:table/fields",
    describe: ({ table }) => describeFields(table!),
    cacheable: true,
  },
  {
    name: "describe_token",
    method: "GET",
    path: "/integration/token",
    describe: ({ access }) => describeAccess(access),
  },
  {
    name: "describe_interface",
    method: "GET",
    path: "/openapi.json",
    describe: ({ catalogue, access }) => describeInterface(catalogue, access),
    describePublicly: describePublicInterface,
    cacheable: true,
  },
];

async function parseUpdate(
  text: string,
  { table }: Pick<PlanContext, "table">,
): Promise<UpdateRequest> {
  const useOf = useOfUpdate((name) => fieldShapeOf(table, name));
  const json = await parseJsonInSlices(text, { useOf });
  return parseUpdateRequest(json.value, json.issues, json);
}

function planUpdateOf(
  operation: "update_single" | "update_bulk",
  request: UpdateRequest,
  { table, access, preferences: { maxAffected, rollback }, requestId, config }: PlanContext,
): UpdatePlan {
  const audited = config.audit ? { requestId, schema: config.schema, operation } : undefined;
  return planUpdate(request, { table, access, maxAffected, rollback, audited });
}

/** The records go out as Postgres printed them. */
function printPage({ total, rows, records }: Page, plan: QueryPlan): Printed {
  const { table, page, perPage } = plan;
  const json = `{"success":true,"table":${JSON.stringify(table.name)},"page":${page},` +
    `"per_page":${perPage},"total":${total},"records":${records}}`;
  return { json, rows: Number(rows) };
}
