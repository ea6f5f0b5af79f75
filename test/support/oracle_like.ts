/**
 * Reports whether text is LIKE a pattern: `%` any characters, `_` one, a backslash makes the next plain.
 * Undefined when the pattern ends in an unpaired backslash.
 * @see Q27, Q51, Q52
 */
export function matchesLike(text: string, pattern: string): boolean | undefined {
  const steps: ("any" | "one" | { readonly plain: string })[] = [];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!;
    if (character === "%") steps.push("any");
    else if (character === "_") steps.push("one");
    else if (character !== "\\") steps.push({ plain: character });
    else if (i + 1 === characters.length) return undefined;
    else steps.push({ plain: characters[++i]! });
  }
  // Which lengths of the text the steps so far can have eaten.
  const letters = [...text];
  let reached = new Set([0]);
  for (const step of steps) {
    const next = new Set<number>();
    for (const at of reached) {
      if (step === "any") { for (let to = at; to <= letters.length; to++) next.add(to); }
      else if (at < letters.length && (step === "one" || step.plain === letters[at])) {
        next.add(at + 1);
      }
    }
    reached = next;
  }
  return reached.has(letters.length);
}
