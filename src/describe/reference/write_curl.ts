import type { ServiceRequest } from "./described.ts";
import { printJson, printText } from "./print_literal.ts";

/** How a command of curl is written. */
export interface CurlOptions {
  /** The address of the service. */
  readonly address: string;
  /** Written into the command; left out: the variable ROWGATE_TOKEN of the shell. */
  readonly token?: string;
  /** True: on one line. */
  readonly short?: boolean;
  /** True: the response is a stream of events. */
  readonly stream?: boolean;
}

/** Writes a request as a command of curl that a shell takes as it is. */
export function writeCurl(request: ServiceRequest, options: CurlOptions): string {
  const { address, token, short = false, stream = false } = options;
  const { method, body } = request;
  const words = [
    stream ? "curl -sN" : "curl -s",
    ...(["PUT", "PATCH", "DELETE"].includes(method) ? [`-X ${method}`] : []),
    quoteShell(joinAddress(address, request.path)),
  ].join(" ");
  const headers = [
    token === undefined
      ? `-H "Authorization: Bearer $ROWGATE_TOKEN"`
      : `-H ${quoteShell(`Authorization: Bearer ${token}`)}`,
    ...[...(stream ? [["Accept", "text/event-stream"]] : []), ...listHeaders(request)]
      .map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
  ];
  const data = body === undefined
    ? []
    : [`-d ${quoteShell(short ? printText(body) : printJson(body))}`];
  return [words, ...headers, ...data].join(short ? " " : " \\\n  ");
}

/** Lists the headers of a request besides the token's. */
export function listHeaders(
  { body, prefer }: ServiceRequest,
): (readonly [name: string, value: string])[] {
  return [
    ...(body === undefined ? [] : [["Content-Type", "application/json"] as const]),
    ...(prefer === undefined ? [] : [["Prefer", prefer] as const]),
  ];
}

/** Joins the address of a service, with or without a path of its own, and a path. */
export function joinAddress(address: string, path: string): string {
  return new URL(path, `${address.replace(/\/+$/, "")}/`).href;
}

/** Quotes a text for a shell. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
