const ALLOWED_HEADERS = [
  "Accept",
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Prefer",
  "Rowgate-Position",
  "X-Request-Id",
].join(", ");
const EXPOSED_HEADERS = [
  "ETag",
  "Idempotent-Replayed",
  "Link",
  "Preference-Applied",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Rowgate-Order",
  "Rowgate-Position",
  "WWW-Authenticate",
  "X-Request-Id",
].join(", ");
const PREFLIGHT_SECONDS = "600";

/**
 * Returns the headers that let pages of the allowed origins read a response; none if no origin is
 * allowed. Credentials are never allowed: the page itself sets the header with the token.
 * @see H8, H9
 */
export function corsHeaders(
  request: Request,
  origins: readonly string[],
): Record<string, string> {
  if (origins.length === 0) return {};
  const origin = request.headers.get("origin");
  if (origin === null || !(origins.includes(origin) || origins.includes("*"))) {
    return { "vary": "Origin" };
  }
  return {
    "vary": "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED_HEADERS,
  };
}

/**
 * Returns the headers for a browser's preflight request; none if it is not one, or its origin is not
 * allowed.
 * @see H10
 */
export function preflightHeaders(
  request: Request,
  { origins, allow }: { readonly origins: readonly string[]; readonly allow: string },
): Record<string, string> {
  const headers = corsHeaders(request, origins);
  if (!request.headers.has("access-control-request-method")) return headers;
  if (headers["access-control-allow-origin"] === undefined) return headers;
  return {
    ...headers,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": PREFLIGHT_SECONDS,
  };
}
