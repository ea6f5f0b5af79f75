/**
 * Gives the ETag of an answer: weak, since compressed and plain form share it.
 * @see T46, T51
 */
export async function makeEtag(json: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(json));
  const bytes = [...new Uint8Array(digest).subarray(0, 16)];
  return `W/"${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}

/** Tells whether a `GET` or `HEAD` says that its client holds this state already. */
export function isUnchanged(request: Request, etag: string): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const held = request.headers.get("if-none-match");
  if (held === null) return false;
  if (held.trim() === "*") return true;
  return held.split(",").some((one) => withoutWeakness(one.trim()) === withoutWeakness(etag));
}

function withoutWeakness(etag: string): string {
  return etag.startsWith("W/") ? etag.slice(2) : etag;
}
