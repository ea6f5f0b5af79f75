import { ApiError } from "../basics/errors/api_error.ts";
import type { Exchange } from "./respond.ts";

/**
 * Rejects an export over HTTP/1.0, where the end of the connection is the end of the body: one that broke
 * off would look whole. nginx speaks 1.0 to the service by default, and then passes the
 * part on as complete. Where the version is not known, a request that closes its connection counts as
 * one of 1.0, since it is what nginx sends.
 * @throws {ApiError} 400
 * @see EX26
 */
export function rejectUnseenEnd({ request: { headers }, httpVersion }: Exchange): void {
  const closes = /(^|,)\s*close\s*(,|$)/i.test(headers.get("connection") ?? "");
  const mayBeOld = httpVersion === undefined ? closes : !(Number(httpVersion) >= 1.1);
  if (!mayBeOld) return;
  const found = httpVersion === undefined
    ? "Connection: close may come from a proxy that speaks HTTP/1.0, over which"
    : "HTTP/1.0:";
  const message = `${found} an export that breaks off looks complete, expected HTTP/1.1 with ` +
    'keep-alive (nginx: proxy_http_version 1.1; proxy_set_header Connection "";) or ' +
    '"Prefer: count=end", which adds a last line with the number of records';
  throw new ApiError(400, message);
}
