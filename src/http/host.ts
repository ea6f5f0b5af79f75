import { ApiError } from "../errors/api_error.ts";
import { quote } from "../errors/issue.ts";

/** The last host that was one: what comes behind it in a URL can not make it none. */
let last: { readonly host: string; readonly start: string } = { host: "", start: " " };

const HOST = /^[A-Za-z0-9._~:%[\]-]*$/;

/**
 * Refuses a request whose `Host` is none. Servers put it before the path to make the URL: one with a
 * slash in it would choose the route, past a proxy that has looked at the path alone.
 * @throws {ApiError} 400
 */
export function checkHost(request: Request): void {
  const host = request.headers.get("host");
  if (host !== null && host === last.host && request.url.startsWith(last.start)) return;
  if ((host === null || HOST.test(host)) && URL.canParse(request.url)) {
    if (host !== null) last = { host, start: `http://${host}/` };
    return;
  }
  throw new ApiError(400, `Host: ${quote(host ?? "")} is no host, expected a name or an address`);
}
