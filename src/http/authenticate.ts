import { ApiError } from "../basics/errors/api_error.ts";
import type { Access, TokenStore } from "../access/tokens/token.ts";
import type { RateLimits } from "./rate_limit.ts";
import type { Trace } from "./trace.ts";

const MAX_TOKEN_CHARACTERS = 255;
const SCHEME = /^bearer +/i;
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const CHALLENGE = "Bearer";

/** What requests are authenticated and limited with. */
export interface AuthenticateOptions {
  readonly tokens: TokenStore;
  /** Undefined: there is no rate limit. */
  readonly rateLimits: RateLimits | undefined;
}

/**
 * Returns the access of a request's token, counts the request against the token's rate limit, and
 * places it among the requests of its tenant.
 * @throws {ApiError} 401 no valid token; 429 the rate limit of the token, or of invalid tokens from the
 * peer; 503 the tenant has too many requests in flight
 * @see O3, O4
 */
export async function authenticate(
  trace: Trace,
  { tokens, rateLimits }: AuthenticateOptions,
): Promise<Access> {
  const { exchange, place } = trace;
  const access = await findAccess(exchange.request, tokens, {
    onRecall: place.claim,
    onRejection() {
      const rejection = rateLimits?.countInvalidToken(trace.peer);
      if (rejection === undefined) return;
      trace.limited = "peer";
      throw rejection;
    },
  });
  noteAccess(trace, access);
  const counted = rateLimits?.countRequest(access.tokenId);
  const standing = counted instanceof Promise ? await counted : counted;
  Object.assign(exchange.headers, standing?.headers);
  if (standing?.rejection === undefined) return access;
  trace.limited = "token";
  throw standing.rejection;
}

/** Counts a request as one of a token and its tenant. @throws {ApiError} 503 the tenant has too many */
export function noteAccess(trace: Trace, access: Access): void {
  trace.access = access;
  trace.exchange.tenant = access.tenant;
  trace.place.claim(access.tenant);
}

/** Callbacks of {@link findAccess}. */
export interface FindAccessOptions {
  /** Called if a token was sent and is not valid; may throw an error in place of the 401. */
  readonly onRejection?: () => void;
  /** Called before the look-up with the tenant of a token that was valid lately; may throw. */
  readonly onRecall?: (tenant: string) => void;
}

/**
 * Returns the access of the token in `Authorization: Bearer <token>`. The store finds out whether the
 * token has expired or was revoked (`hasEnded`). All invalid tokens get the same message; a malformed
 * one is rejected without a look-up.
 * @throws {ApiError} 401 with `WWW-Authenticate`, which has `error="invalid_token"` if a token was
 * sent
 * @see A1
 */
export async function findAccess(
  request: Request,
  tokens: TokenStore,
  { onRejection = () => {}, onRecall = () => {} }: FindAccessOptions = {},
): Promise<Access> {
  const header = request.headers.get("authorization");
  const scheme = header === null ? null : SCHEME.exec(header);
  if (header === null || scheme === null) throw rejectMissing();
  const token = header.slice(scheme[0].length);
  const isToken = token.length <= MAX_TOKEN_CHARACTERS && TOKEN.test(token);
  const tenant = isToken ? tokens.recall?.(token) : undefined;
  if (tenant !== undefined) onRecall(tenant);
  const access = isToken ? await tokens.find(token) : null;
  if (access !== null) return access;
  onRejection();
  throw rejectInvalid();
}

function rejectMissing(): ApiError {
  return new ApiError(401, 'Authorization: no API token, expected "Bearer <API token>"', {
    headers: { "www-authenticate": CHALLENGE },
  });
}

/** Makes the 401 for a token that is not valid, or no longer valid. */
export function rejectInvalid(): ApiError {
  return new ApiError(401, "Authorization: the API token is not valid, expected a current one", {
    headers: { "www-authenticate": `${CHALLENGE} error="invalid_token"` },
  });
}
