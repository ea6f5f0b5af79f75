import type { Catalogue, Table } from "../catalogue/catalogue.ts";
import type { Config } from "../server/config/config.ts";
import type { Changes } from "../feeds/changes/changes.ts";
import type { EventSource } from "../http/event_stream.ts";
import type { PrintedRows } from "../http/export_source.ts";
import type { Place } from "../http/in_flight.ts";
import type { PreferenceKind, Preferences } from "../http/preferences.ts";
import type { Exchange } from "../http/respond.ts";
import type { Idempotency } from "../records/plan/idempotency.ts";
import type { PlannedRequest, Records } from "../records/records.ts";
import type { CurrentAccess } from "../access/tokens/current_access.ts";
import type { TableScope, TokenScope } from "../access/scopes.ts";
import type { Access } from "../access/tokens/token.ts";
import type { Webhooks } from "../feeds/webhooks/webhooks.ts";
import type { Description } from "./description.ts";

/** Every operation that takes a token. @see S7 */
export type Operation =
  | RecordsOperation
  | FollowingOperation
  | DescribingOperation
  | TableDescribingOperation
  | ManagingOperation;

/** An operation, and all that is said of it. */
export type DescribedOperation = Operation & Description;

interface Route {
  /** For logs, metrics and the audit; `names.ts` makes the `operationId` and the tool's name of it. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:table` or `:id` where the operation is about one. */
  readonly path: string;
  /** What the token must allow; undefined: any token may use it. */
  readonly scope?: TokenScope;
  /** What it must allow as well. */
  readonly alsoScope?: TableScope;
  /** True: the response has an ETag, by which the client can ask whether it has changed. */
  readonly cacheable?: boolean;
  /** Another operation at the same address, where the headers ask for it. */
  readonly otherForm?: (headers: Headers) => Operation | undefined;
}

/**
 * An operation on the records of a table, as the steps from the text of its body to the JSON of its
 * response. They are methods, so that operations of different types fit into one list.
 */
export interface RecordsOperation<
  Parsed extends Pick<PlannedRequest, "document"> = Pick<PlannedRequest, "document">,
  Plan = unknown,
  Result = unknown,
> extends Route {
  /** What the token must allow; also decides which preferences there are, unless `preferences` does. */
  readonly scope: TableScope;
  readonly preferences?: Exclude<PreferenceKind, "manage">;
  /** True: a write that obeys `If-Match`. @see OR11 */
  readonly obeysIfMatch?: true;
  /** True: it must say how many rows it may write, by `Prefer: max-affected`. @see DE6 */
  readonly needsMaxAffected?: true;
  /** @throws {ApiError} 400 the body is not JSON, or not of this shape */
  parse(text: string, context: ParseContext): Promise<Parsed>;
  /** @throws {ApiError} 400 a name or a value that the table does not admit */
  plan(request: Parsed, context: PlanContext): Plan;
  /**
   * @throws {ApiError} with a status of step 8 of the order of checks: the rows do not allow it
   * @throws {DatabaseError}
   */
  perform(plan: Plan, records: Records, request: PlannedRequest): Promise<Result>;
  print(result: Result, plan: Plan, request: Parsed): Responding;
}

/** An operation that follows a table, and may answer with a stream. */
export interface FollowingOperation extends Route {
  /** What the token must allow. */
  readonly scope: TableScope;
  /** @throws {ApiError} with a status of step 7 or 8 of the order of checks */
  readonly follow: (context: FollowContext, changes: Changes) => Promise<Following>;
}

/** The table that is followed, and the request. */
export interface FollowContext {
  readonly table: Table;
  readonly current: CurrentAccess;
  readonly exchange: Exchange;
  readonly place: Place;
  /** When the request began, by `performance.now()`. */
  readonly startedMs: number;
  readonly config: Config;
}

/** The response of a following operation: a body, or a stream of events. */
export type Following = Printed | { readonly events: EventSource; readonly rows: number };

/** The rows of an export, which are read while they are sent. */
export interface Exported {
  readonly exported: PrintedRows;
  /** The `Content-Type`. */
  readonly type: string;
  readonly rows?: undefined;
}

/** What a response is made of. */
export type Responding = Following | Exported;

/** An operation that describes a table to any token that may use it, whatever its scopes. */
export interface TableDescribingOperation extends Route {
  readonly describeTable: (table: Table) => string;
}

/** An operation that describes what a token may use, and touches no records. */
export interface DescribingOperation extends Route {
  readonly describe: (context: DescribeContext) => string;
  /** The response to a request without a token; undefined: 401. */
  readonly describePublicly?: () => string;
}

/** An operation on what belongs to the token itself. */
export interface ManagingOperation extends Route {
  /** @throws {ApiError} with a status of step 6 of the order of checks */
  readonly admit: (context: AdmitContext) => Webhooks;
  /**
   * @throws {ApiError} with a status of step 7 or 8 of the order of checks
   * @throws {DatabaseError}
   */
  readonly manage: (webhooks: Webhooks, context: ManageContext) => Promise<Printed>;
}

/** Who asks for a managing operation. */
export interface AdmitContext {
  readonly access: Access;
  /** Undefined: they are off. */
  readonly webhooks: Webhooks | undefined;
}

/** What a managing operation works on. */
export interface ManageContext {
  readonly access: Access;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  readonly catalogue: () => Catalogue | Promise<Catalogue>;
  /** @throws {ApiError} 415, 413, 408, 400 */
  readonly readBody: () => Promise<string>;
  /** @throws {ApiError} 400 there is a body, and the operation reads none */
  readonly refuseBody: () => void;
}

/** What parsing depends on besides the body. */
export interface ParseContext extends Pick<PlanContext, "table" | "config"> {
  /** The address of the request. */
  readonly url: string;
}

/** What a plan depends on besides the body. */
export interface PlanContext {
  readonly table: Table;
  readonly access: Access;
  readonly preferences: Preferences;
  readonly wideNumbersAsText: boolean;
  readonly requestId: string;
  readonly config: Config;
  /** Undefined: the answer is not kept. */
  readonly idempotency: Idempotency | undefined;
  /** The tags of `If-Match`, or `any`; undefined: there is no such header. */
  readonly ifMatch: "any" | readonly string[] | undefined;
  /** The page token in the address, where there is one. */
  readonly after: string | undefined;
}

/** What a description depends on. */
export interface DescribeContext {
  readonly access: Access;
  readonly catalogue: Catalogue;
}

/** The result of an operation. */
export interface Printed {
  /** The body, a JSON object as text; empty after `takeJson`. */
  json: string;
  /** 200 if left out. */
  readonly status?: number;
  /** Rows read or written, for the log. */
  readonly rows?: number;
  /** A preference that was applied, which is known only after the operation. */
  readonly applied?: string | undefined;
  /** The Link header. */
  readonly link?: string | undefined;
  /** The ETag: the version of the row in the response. */
  readonly etag?: string | undefined;
  /** True: it is a page of rows in no order, so that pages may overlap. @see Q102 */
  readonly unordered?: boolean;
}

/**
 * Takes the body out of what was printed. A promise that waited for Postgres while V8 collected what is
 * young is old, and keeps its result until V8 walks the whole heap: the result is emptied instead.
 * @see docs/decisions/0035-runtimes.md
 */
export function takeJson(printed: Printed): string {
  const { json } = printed;
  printed.json = "";
  return json;
}

/** Lists what a token must allow for an operation; empty: any token may use it. */
export function listScopes({ scope, alsoScope }: Operation): readonly TokenScope[] {
  return [scope, alsoScope].filter((each) => each !== undefined);
}

/** Reports whether an operation writes, so that it must not drop anything that a request says. @see H29 */
export function isWrite(operation: Operation): boolean {
  const isRead = "scope" in operation && operation.scope === "query";
  return operation.method !== "GET" && !isRead;
}

/** Checks the steps of an operation on records against each other. */
export function defineOperation<Parsed extends Pick<PlannedRequest, "document">, Plan, Result>(
  operation: RecordsOperation<Parsed, Plan, Result> & Description,
): DescribedOperation {
  return operation;
}

/** Does the same for another form of an operation, at the same address. */
export function defineForm<Parsed extends Pick<PlannedRequest, "document">, Plan, Result>(
  operation: RecordsOperation<Parsed, Plan, Result>,
): Operation {
  return operation;
}
