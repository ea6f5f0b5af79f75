/**
 * Blanks control characters: what somebody else chose, such as a name, must not move the cursor of a
 * terminal or begin a line of a log.
 */
export function blankControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "�");
}
