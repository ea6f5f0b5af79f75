import { ApiError } from "../basics/errors/api_error.ts";

/** The preference of clients that continue after the last row of a page. @see Q93 */
export const PAGE_TOKEN = "page-token";

/**
 * Returns the page token in the URL of a request; undefined if there is none. All other parameters
 * are ignored, as on every path.
 * @throws {ApiError} 400 if there are several
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
