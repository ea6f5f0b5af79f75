import type { Checked } from "./predicate.ts";

/** Attributes of one tag: Postgres compares each with all before it, and cannot be interrupted. */
const MAX_ATTRIBUTES = 5000;
/** Characters of a value with declarations, which may hold as many attributes as fit into it. */
const MAX_DECLARING_CHARACTERS = 20_000;

const DECLARATION = /<!(?:ATTLIST|ELEMENT|ENTITY)/;
const ATTRIBUTE = /=\s*["']/g;

/**
 * Rejects XML that Postgres would read in quadratic time.
 * @see L23
 * @see docs/decisions/0017-limits.md
 */
export function checkXml(text: string): Checked {
  if (text.length > MAX_DECLARING_CHARACTERS && DECLARATION.test(text)) {
    return { expected: `at most ${MAX_DECLARING_CHARACTERS} characters where it declares types` };
  }
  // The value of an attribute has no "<".
  const isWide = text.split("<").some((tag) =>
    tag.length > MAX_ATTRIBUTES && countAttributes(tag) > MAX_ATTRIBUTES
  );
  return isWide ? { expected: `at most ${MAX_ATTRIBUTES} attributes in a tag` } : { text };
}

function countAttributes(tag: string): number {
  return tag.match(ATTRIBUTE)?.length ?? 0;
}
