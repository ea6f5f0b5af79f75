import type {
  IDataObject,
  IExecuteFunctions,
  IHttpRequestMethods,
  ILoadOptionsFunctions,
  IN8nHttpFullResponse,
  IPollFunctions,
} from "n8n-workflow";
import { NodeApiError, NodeOperationError, sleep } from "n8n-workflow";
import { checkExactly } from "./exact_json";

/** What n8n calls a node with. */
export type Caller = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions;

/** One request to Rowgate. */
export interface RowgateRequest {
  method?: IHttpRequestMethods;
  /** Relative to `/integration/`. */
  path: string;
  query?: IDataObject;
  body?: IDataObject;
  headers?: Record<string, string>;
  /** The input item that the request is made for, to be named in its error. */
  itemIndex?: number;
  /** A status other than 2xx that the caller deals with. */
  expected?: number;
}

/** A response of status 2xx, or of the one that was expected. */
export interface RowgateResponse {
  status: number;
  body: IDataObject;
  headers: IDataObject;
}

/** Rowgate did nothing: incomplete body, rate limit, busy. So any request may be sent again. */
const NOT_DONE = [408, 429, 503];
const RETRIES = 3;
const LONGEST_WAIT_SECONDS = 60;

/**
 * Sends a request, again where Rowgate has done nothing yet.
 * @throws {NodeApiError} with Rowgate's own message, which names the place in the request
 * @throws {NodeOperationError} when JSON would drop or change a value: nothing is sent
 */
export async function send(
  caller: Caller,
  request: RowgateRequest,
): Promise<RowgateResponse> {
  const { body: sent, query, itemIndex } = request;
  try {
    for (const part of [sent, query]) {
      if (part !== undefined) checkExactly(part);
    }
    for (const [name, value] of Object.entries(query ?? {})) checkPlain(value, name);
  } catch (error) {
    throw new NodeOperationError(caller.getNode(), error as Error, { itemIndex });
  }
  for (let attempt = 1;; attempt++) {
    const { statusCode: status, body, headers } = await sendOnce(
      caller,
      request,
    );
    if (status < 300 || status === request.expected) {
      return { status, body: body as unknown as IDataObject, headers };
    }
    const seconds = Number(headers["retry-after"] ?? 0) || 2 ** attempt / 8;
    if (
      attempt > RETRIES || seconds > LONGEST_WAIT_SECONDS ||
      !NOT_DONE.includes(status)
    ) {
      throw explain(caller, { request, status, body, headers });
    }
    await sleep(seconds * 1000);
  }
}

/** @throws {Error} if a value has no place in a query string */
function checkPlain(value: unknown, name: string): void {
  if (typeof value === "object") {
    throw new Error(`${name}: expected a text, number or boolean, so nothing was sent`);
  }
}

async function sendOnce(
  caller: Caller,
  { method = "GET", path, query, body, headers }: RowgateRequest,
): Promise<IN8nHttpFullResponse> {
  const { baseUrl } = await caller.getCredentials<{ baseUrl: string }>(
    "rowgateApi",
  );
  return await caller.helpers.httpRequestWithAuthentication.call(
    caller,
    "rowgateApi",
    {
      method,
      url: `${baseUrl.replace(/\/+$/, "")}/integration/${path}`,
      qs: query,
      body,
      headers,
      json: true,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
      // A redirect could take the token to another host.
      disableFollowRedirect: true,
    },
  );
}

function explain(
  caller: Caller,
  { request, status, body, headers }: {
    request: RowgateRequest;
    status: number;
    body: unknown;
    headers: IDataObject;
  },
): NodeApiError {
  const { error, matched } = (typeof body === "object" && body !== null ? body : {}) as IDataObject;
  const message = typeof error === "string"
    ? error
    : `There is no Rowgate at this address: it responded with status ${status}`;
  const description = [
    matched === undefined ? "" : `${String(matched)} records match the filter.`,
    headers["x-request-id"] === undefined ? "" : `Request ${String(headers["x-request-id"])}`,
  ].filter(Boolean).join(" ");
  return new NodeApiError(caller.getNode(), { message }, {
    message,
    description,
    httpCode: String(status),
    itemIndex: request.itemIndex,
  });
}

/** Gives the path of something of a table. */
export function onTable(table: string, rest: string): string {
  return `tables/${encodeURIComponent(table)}/${rest}`;
}

/** Gives the token of the next page from the header `Link` of a page; undefined on the last one. */
export function findNextPage({ headers }: RowgateResponse): string | undefined {
  return /[?&]after=([^>&]+)>; rel="next"/.exec(String(headers["link"] ?? ""))
    ?.[1];
}
