import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";

/**
 * The last valid host, which need not be checked again: nothing after it in a URL can make it
 * invalid.
 */
let last: { readonly host: string; readonly start: string } = { host: "", start: " " };

const HOST = /^[A-Za-z0-9._~:%[\]-]*$/;

/**
 * Rejects a request whose `Host` is not a host. Servers make the URL of a request from `Host` and
 * path, so a slash in `Host` would change the route, past a proxy that checks only the path.
 * @throws {ApiError} 400
 */
export function checkHost(request: Request): void {
  const host = request.headers.get("host");
  if (host !== null && host === last.host && request.url.startsWith(last.start)) return;
  if ((host === null || HOST.test(host)) && URL.canParse(request.url)) {
    if (host !== null) last = { host, start: `http://${host}/` };
    return;
  }
  throw new ApiError(
    400,
    `Host: ${quote(host ?? "")} is not a host, expected a name or an address`,
  );
}

/**
 * Characters that may make the path of a URL differ from what was sent, or be read differently by a
 * proxy.
 */
const SUSPECT = /\\|\/\.|\/\/|%2e|#|[^\x21-\x7e]|["<>^`{}]/i;
/** Paths of operations, which may end in a slash; paths that need no token may not. */
const OPERATIONS = "/integration/";

/**
 * Rejects a path that is not in canonical form: one that a URL would resolve or rewrite (`/x/..`,
 * `/%2e`, `\`) or that has an empty segment. So the path that is served is the one that a proxy has
 * checked. `target` is the path as it was sent, where the runtime gives it; the path in the request's
 * URL may have been rewritten.
 * @throws {ApiError} 404
 */
export function checkPath(request: Request, target: string = request.url): void {
  const start = target.startsWith("/") ? 0 : target.indexOf("//") + 2;
  const [sent = ""] = target.slice(start).split("?", 1);
  if (!SUSPECT.test(sent) && !endsInSlash(sent)) return;
  const slash = sent.indexOf("/");
  const path = slash < 0 ? "/" : sent.slice(slash);
  const isCanonical = !path.includes("//") && path === new URL(request.url).pathname;
  if (isCanonical && (path === "/" || !endsInSlash(path))) return;
  throw rejectUnknownPath(path);
}

/**
 * Reports whether a path without a token ends in a slash. The router ignores it, but a proxy's rule
 * for exactly `/metrics` does not.
 */
function endsInSlash(path: string): boolean {
  return path.endsWith("/") && !path.includes(OPERATIONS);
}

/** Makes the 404 for an unknown path. */
export function rejectUnknownPath(path: string): ApiError {
  return new ApiError(404, `The path ${quote(path)} was not found`);
}
