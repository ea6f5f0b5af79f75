import { ApiError } from "../errors/api_error.ts";

/** The preference of clients that read on behind the last row of a page. @see Q93 */
export const PAGE_TOKEN = "page-token";

/**
 * Gives the page token in the address of a request; undefined where there is none. Every other parameter
 * is ignored, as on all paths.
 * @throws {ApiError} 400 when there are several
 */
export function readPageToken({ url }: Request): string | undefined {
  const start = url.indexOf("?");
  if (start < 0) return undefined;
  const tokens = new URLSearchParams(url.slice(start)).getAll("after");
  if (tokens.length < 2) return tokens[0];
  throw new ApiError(400, `after: There are ${tokens.length} page tokens, expected one`);
}

/** Prints the Link header that leads to the next page. The table's name and the token need no escapes. */
export function printNextLink(table: string, token: string): string {
  return `</integration/tables/${table}/query?after=${token}>; rel="next"`;
}
