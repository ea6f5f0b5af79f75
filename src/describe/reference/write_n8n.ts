import type { ServiceRequest } from "./described.ts";
import { printJson, printText } from "./print_literal.ts";
import { joinAddress } from "./write_curl.ts";

/** What the service allows on a page; n8n reads all of them anyway. */
const ROWS_PER_PAGE = 200;

/**
 * Writes a request as an HTTP Request node, in the form that n8n's editor has on the clipboard. A query
 * and a list of changes read all pages.
 * @see Q93, CH8
 */
export function writeN8n(request: ServiceRequest, address: string): string {
  const pagination = describePagination(request, address);
  const { body } = request;
  const prefer = pagination?.prefer ?? request.prefer;
  const node = {
    parameters: {
      method: request.method,
      url: joinAddress(address, request.path),
      authentication: "genericCredentialType",
      genericAuthType: "httpHeaderAuth",
      ...(prefer !== undefined && {
        sendHeaders: true,
        headerParameters: { parameters: [{ name: "Prefer", value: prefer }] },
      }),
      ...(body !== undefined && {
        sendBody: true,
        specifyBody: "json",
        jsonBody: printJson(pagination?.body ?? body),
      }),
      options: pagination === undefined ? {} : {
        pagination: {
          pagination: {
            paginationMode: "responseContainsNextURL",
            nextURL: pagination.next,
            paginationCompleteWhen: "other",
            completeExpression: pagination.complete,
          },
        },
      },
    },
    name: `Rowgate ${request.path.split("/")[2] ?? ""}`.trim(),
    type: "n8n-nodes-base.httpRequest",
    typeVersion: 4.2,
    position: [0, 0],
  };
  return JSON.stringify({ nodes: [node], connections: {} }, null, 2);
}

interface Pagination {
  readonly prefer?: string;
  /** Without what belongs to one page. */
  readonly body?: unknown;
  /** Expressions of n8n: the address of the next page, and whether there is none. */
  readonly next: string;
  readonly complete: string;
}

function describePagination(
  { method, path, body, prefer }: ServiceRequest,
  address: string,
): Pagination | undefined {
  const [resource = "", query = ""] = path.split("?");
  if (method === "POST" && resource.endsWith("/query")) {
    const { page: _, per_page: __, ...rest } = body as Readonly<Record<string, unknown>>;
    const start = printText(`${joinAddress(address, resource)}?after=`);
    // The Link header has the path that the service knows, which a proxy may have shortened.
    const token = "$response.headers.link.match(/[?&]after=([\\w-]+)/)[1]";
    return {
      prefer: prefer === undefined || prefer.includes("page-token")
        ? prefer ?? "page-token"
        : `page-token, ${prefer}`,
      body: { ...rest, per_page: ROWS_PER_PAGE },
      next: `={{ ${start} + ${token} }}`,
      complete: "={{ !$response.headers.link }}",
    };
  }
  if (method !== "GET" || !resource.endsWith("/changes")) return undefined;
  const parameters = new URLSearchParams(query);
  for (const name of ["since", "wait"]) parameters.delete(name);
  const others = [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}&`);
  const start = printText(`${joinAddress(address, resource)}?${others.join("")}since=`);
  return {
    next: `={{ ${start} + $response.body.cursor }}`,
    complete: "={{ !$response.body.more }}",
  };
}
