import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";

/** A tag of RFC 9110, which may be weak. */
const TAG = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;
/** An element of a list: a comma may be in a tag. */
const ELEMENT = /(?:W\/)?"[^"]*"|[^,\s]+/g;
const SEPARATORS = /^[\s,]*$/;

/**
 * Reads `If-Match`: the opaque parts of its tags, without weak ones, which are equal to none; `any` for
 * `*`; undefined where there is no such header.
 * @throws {ApiError} 400 it is neither `*` nor a list of tags
 * @see OR11, OR13
 */
export function readIfMatch({ headers }: Request): "any" | readonly string[] | undefined {
  const header = headers.get("if-match");
  if (header === null) return undefined;
  if (header.trim() === "*") return "any";
  const elements = header.match(ELEMENT) ?? [];
  const isList = SEPARATORS.test(header.replace(ELEMENT, "")) && isSeparated(header, elements);
  const tags = elements.map((element) => TAG.exec(element));
  if (elements.length === 0 || !isList || tags.includes(null)) {
    const expected = 'expected * or the ETag of the record, such as "0a1b2c"';
    throw new ApiError(400, `If-Match: ${quote(header)} is not a list of tags, ${expected}`);
  }
  return tags.flatMap((tag) => tag![1] === undefined ? [tag![2]!] : []);
}

/** Reports whether there is a comma between any two elements. */
function isSeparated(header: string, elements: readonly string[]): boolean {
  let at = 0;
  return elements.every((element, place) => {
    const start = header.indexOf(element, at);
    const isApart = place === 0 || header.slice(at, start).includes(",");
    at = start + element.length;
    return isApart;
  });
}
