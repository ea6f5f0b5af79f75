/** Texts about HTTP in messages of the service, and their equivalents for arguments of tools. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /^after: (The page token .+), expected .+/,
    "page_token: $1, expected the next_page_token of the result before, and the same filters and sort",
  ],
  [/^Idempotency-Key: /, "idempotency_key: "],
  [/^(\d+ rows? match(?:es)? the filters, more than )max-affected=/, "$1max_affected="],
  [/use the bulk operation \(PATCH …\/records\/bulk\)$/, "use update_records"],
  [/use the bulk operation \(DELETE …\/records\/bulk\)$/, "use delete_records"],
];

/** Replaces headers and parameters in a message by the arguments of tools that set them. @see MC10 */
export function nameArguments(message: string): string {
  return PHRASES.reduce((text, [pattern, phrase]) => text.replace(pattern, phrase), message);
}
