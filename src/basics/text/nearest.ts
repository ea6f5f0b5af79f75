import { distance } from "fastest-levenshtein";

/** No longer name is compared; names in Postgres have at most 63 bytes. */
const MAX_NAME_CHARACTERS = 128;

/**
 * Returns the known name that a misspelt one probably means; undefined when none is near. A name is near
 * within 2 edits or a third of its letters, whichever is more, but never more than half of them.
 * Ignores case.
 * @see E10, E11, E12
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const found = distance(wanted, candidate.toLowerCase());
    if (found >= bestDistance || found * 2 > Math.max(name.length, candidate.length)) continue;
    best = candidate;
    bestDistance = found;
  }
  return best;
}
