import { ApiError } from "../basics/errors/api_error.ts";
import { MAX_TOOL_RESULT_BYTES } from "../basics/errors/limits.ts";
import { type Exchange, findApiError, respondError } from "../http/respond.ts";
import { startTrace, type Trace } from "../http/trace.ts";
import { handleRequest, type Service } from "../operations/handle_request.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import type { DescribedOperation } from "../operations/operation.ts";
import type { ToolRequest } from "../operations/tools/tool_definition.ts";
import type { Tool } from "../operations/tools/tool.ts";
import type { Arguments } from "../operations/tools/tool_definition.ts";
import { printBody, readTextArgument } from "../operations/tools/tool_arguments.ts";
import { nameArguments } from "./name_arguments.ts";
import { addMember, addNote, cutResult, fitsResult, takeEntries } from "./cut_result.ts";
import { cutTables, selectEntries } from "./select_entries.ts";

/** The result for an agent: a response of the service, or the message of its error. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

/** A call of a tool. */
export interface ToolCall {
  readonly tool: Tool;
  readonly given: Arguments;
  /** The trace of the request with the call. */
  readonly trace: Trace;
}

/** The service, and where its requests are observed. */
export interface CallContext {
  readonly service: Service;
  readonly observe: Observe;
}

/**
 * Calls a tool: makes its request and handles it like one that came by HTTP, with the same token. It
 * never throws: the agent can read every response.
 * @see MC8, MC9, MC10
 */
export async function callTool(call: ToolCall, context: CallContext): Promise<ToolResult> {
  const result = await answer(call, context).then(
    (text) => ({ text, isError: false }),
    (error) => ({
      text: nameArguments(findApiError(error)?.message ?? "Internal error"),
      isError: true,
    }),
  );
  const outcome = result.isError ? "error" : "answer";
  context.observe({ kind: "tool_call", tool: call.tool.name, result: outcome });
  return result;
}

async function answer({ tool, given, trace }: ToolCall, context: CallContext): Promise<string> {
  const operation = tool.operationOf(given);
  const request = tool.makeRequest(given);
  const ask = (asked: ToolRequest) => send({ ...asked, operation }, trace, context);
  const answered = await ask(request);
  const { json } = answered;
  switch (tool.result) {
    case "tables":
      return cutTables(
        selectEntries(json, { list: "tables", text: readTextArgument(given, "contains") }),
      );
    case "fields":
      return cutResult({
        json: selectEntries(json, { list: "fields", text: readTextArgument(given, "contains") }),
        list: "fields",
        advise: () => "Use contains to find other columns by a part of their name or comment.",
      });
    case "page":
      if (request.prefer !== undefined) return await shortenPage(answered, { request, given, ask });
      return cutResult({
        json,
        list: "records",
        advise: (records) =>
          records === 0
            ? "The first record alone is longer: select fewer columns."
            : `Select fewer columns, read pages with per_page ${records}, or use page_token.`,
      });
    case "changes":
      return await shortenChanges(json, { request, ask });
    case "record":
      if (fitsResult(json)) return json;
      throw new ApiError(
        400,
        `select: The record is longer than the ${MAX_TOOL_RESULT_BYTES} bytes of a result, ` +
          "expected fewer columns",
      );
    case "preview":
      return addNote(json, "This was a preview: it was rolled back, and nothing is changed.");
    case "written":
      return cutUpdated(answered);
  }
}

/** An answer of the service. */
interface Answer {
  readonly json: string;
  readonly headers: Headers;
}

const KEPT =
  "This is the result of the first call with this idempotency_key; nothing was done now.";

/**
 * Adds a note if the update was done by an earlier call. Cuts the values in the response to an update
 * of one record, which may be long.
 * @see MC22
 */
function cutUpdated({ json, headers }: Answer): string {
  const kept = headers.has("idempotent-replayed") ? [KEPT] : [];
  if (fitsResult(json)) return kept.length === 0 ? json : addNote(json, KEPT);
  const { fields: _, ...rest } = JSON.parse(json);
  const notes = [...kept, "Cut: fields are as they were sent."];
  return addNote(JSON.stringify(rest), notes.join(" "));
}

/**
 * Asks again for fewer records if they are too long, because after a cut list its page token would
 * skip the rest.
 * @see MC21
 */
async function shortenPage(
  first: Answer,
  { request, given, ask }: {
    readonly request: ToolRequest;
    readonly given: Arguments;
    readonly ask: (request: ToolRequest) => Promise<Answer>;
  },
): Promise<string> {
  let answer = first;
  for (let rows = Infinity;;) {
    const next = /[?&]after=([\w-]+)/.exec(answer.headers.get("link") ?? "")?.[1];
    const json = next === undefined ? answer.json : addMember(answer.json, "next_page_token", next);
    if (fitsResult(json)) return json;
    // The page token may be long too.
    rows = Math.min(takeEntries(answer.json, "records").entries, Math.floor(rows * 0.8));
    if (rows < 1) {
      const most = `the ${MAX_TOOL_RESULT_BYTES} bytes of a result`;
      throw new ApiError(
        400,
        `select: The next record is longer than ${most}, expected fewer columns`,
      );
    }
    answer = await ask(askForFewer(request, given, rows));
  }
}

/** Makes the same request for a page of fewer rows; what follows it is behind its page token. */
function askForFewer(request: ToolRequest, given: Arguments, rows: number): ToolRequest {
  const body = printBody(given, ["table", "page_token", "per_page"]);
  const perPage = `"per_page":${rows}`;
  return { ...request, body: body === "{}" ? `{${perPage}}` : `${body.slice(0, -1)},${perPage}}` };
}

/**
 * Asks again for fewer changes if they are too long, because after a cut list its cursor would skip
 * the rest.
 */
async function shortenChanges(
  first: string,
  { request, ask }: {
    readonly request: ToolRequest;
    readonly ask: (request: ToolRequest) => Promise<Answer>;
  },
): Promise<string> {
  let json = first;
  for (let limit = Infinity; !fitsResult(json);) {
    limit = Math.min(takeEntries(json, "changes").entries, limit - 1);
    if (limit < 1) {
      const most = `the ${MAX_TOOL_RESULT_BYTES} bytes of a result`;
      throw new ApiError(
        400,
        `fields: The next change is longer than ${most}, expected fewer columns`,
      );
    }
    // The list may differ from the first one: records that have changed meanwhile may be longer.
    ({ json } = await ask({ ...request, query: { ...request.query, limit: String(limit) } }));
  }
  return json;
}

/** Sends the request of a tool, and returns its answer. */
async function send(
  { operation, table, query = {}, prefer, idempotencyKey, body }: ToolRequest & {
    readonly operation: DescribedOperation;
  },
  outer: Trace,
  { service, observe }: CallContext,
): Promise<Answer> {
  const { exchange: { request, requestId, sending }, peer, traceId, place } = outer;
  const path = operation.path.replace(":table", table);
  const search = new URLSearchParams(query).toString();
  const headers = new Headers({ authorization: request.headers.get("authorization") ?? "" });
  if (prefer !== undefined) headers.set("prefer", prefer);
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  if (body !== undefined) headers.set("content-type", "application/json");
  const url = new URL(search === "" ? path : `${path}?${search}`, request.url);
  const { method } = operation;
  const inner = new Request(url, { method, headers, body: body ?? null, signal: request.signal });
  const exchange: Exchange = { request: inner, requestId, corsOrigins: [], headers: {}, sending };
  const trace = startTrace(exchange, { peer, traceId, place });
  try {
    // The rate limit has counted the request that brought the call.
    const counted = { ...service, rateLimits: undefined };
    const handled = { operation, tableName: table, id: "", trace };
    const response = await handleRequest(handled, counted);
    const ended = trace.end(response, observe);
    return { json: await ended.text(), headers: ended.headers };
  } catch (error) {
    trace.reportError(error, observe);
    trace.end(respondError(error, exchange), observe);
    throw error;
  }
}
