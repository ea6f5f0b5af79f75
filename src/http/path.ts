import { ApiError } from "../errors/api_error.ts";
import { quote } from "../errors/issue.ts";

/** What may make the path of a URL differ from what was sent, or a proxy read it in another way. */
const SUSPECT = /\\|\/\.|\/\/|%2e|#|[^\x21-\x7e]|["<>^`{}]/i;
/** Paths of operations, which may end in a slash. Those that need no token may not. */
const OPERATIONS = "/integration/";

/**
 * Refuses a path that is not in its canonical form: one that a URL would resolve or rewrite (`/x/..`,
 * `/%2e`, `\`) or with an empty segment. A proxy that has looked at the path as it was sent has then
 * looked at the one that is served. `target` is what was sent, where the runtime tells it; the URL of
 * the request has a path that may be rewritten.
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
  throw refuseUnknown(path);
}

/** The router ignores a slash at the end; a proxy's rule for exactly `/metrics` does not. */
function endsInSlash(path: string): boolean {
  return path.endsWith("/") && !path.includes(OPERATIONS);
}

/** Makes the 404 of a path that nothing is at. */
export function refuseUnknown(path: string): ApiError {
  return new ApiError(404, `The path ${quote(path)} was not found`);
}
