import { redactTokens } from "../text/redact.ts";

const WELL_FORMED = /^[A-Za-z0-9._~-]{1,128}$/;

const TOKEN_START = /(?<![0-9A-Za-z])rg_[0-9A-Za-z]/;

/**
 * Gives the id of a request: the client's own `X-Request-Id` when it is 1 to 128 unreserved
 * characters and no token, so that it can be put into headers and logs as it is; otherwise a random
 * UUID.
 * @see E46, E47, AU19
 */
export function takeRequestId(request: Request): string {
  const sent = request.headers.get("x-request-id");
  return sent !== null && WELL_FORMED.test(sent) && !holdsToken(sent) ? sent : crypto.randomUUID();
}

/** An id is logged, stored and sent back: it must hold no token, and no part of one. */
function holdsToken(id: string): boolean {
  return id.includes("rg_") && (TOKEN_START.test(id) || redactTokens(id) !== id);
}
