const WELL_FORMED = /^[A-Za-z0-9._~-]{1,128}$/;

/**
 * Gives the id of a request: the client's own `X-Request-Id` when it is 1 to 128 unreserved
 * characters, so that it can go into headers and logs as it is, else a random UUID.
 * @see DECISIONS 7
 */
export function takeRequestId(request: Request): string {
  const sent = request.headers.get("x-request-id");
  return sent !== null && WELL_FORMED.test(sent) ? sent : crypto.randomUUID();
}
