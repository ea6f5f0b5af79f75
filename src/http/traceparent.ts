/** Version, trace, parent, flags; versions to come may add more behind a dash. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/**
 * Gives the trace id of a request's `traceparent`, 32 hexadecimal digits, for its log line; undefined
 * where there is none or it is not well-formed.
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function readTraceId(request: Request): string | undefined {
  const found = TRACEPARENT.exec(request.headers.get("traceparent") ?? "");
  if (found === null || (found[1] === "00" && found[3] !== undefined)) return undefined;
  return found[2];
}
