/** A character of a token, as it is or percent-encoded, once or several times. */
const CHARACTER = "(?:[0-9A-Za-z]|%(?:25)*(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]))";
const UNDERSCORE = "(?:_|%(?:25)*5[Ff])";
const START = `(?:r|%(?:25)*72)(?:g|%(?:25)*67)${UNDERSCORE}`;

/**
 * The start of a token, its id, and what may be a part of its secret: at least eight characters after
 * an id of the right length, or as many as a secret has after any id.
 */
const TOKEN = new RegExp(
  `(${START}(?:${CHARACTER}{11}${UNDERSCORE}(?=${CHARACTER}{8})|` +
    `${CHARACTER}{1,64}${UNDERSCORE}(?=${CHARACTER}{43})))${CHARACTER}+`,
  "g",
);

/** What may be the secret part of a token without its start: as many characters in a row. */
const RUN = new RegExp(`${CHARACTER}{43,}`, "g");

/**
 * Removes the secret of each token in a text, even of one that is percent-encoded or cut off, or of the
 * secret alone; the id stays. For everything from a client that is logged, stored or repeated. A text must be redacted
 * before it is cut.
 */
export function redactTokens(text: string): string {
  const parts = text.includes("rg_") || text.includes("%") ? text.replaceAll(TOKEN, "$1…") : text;
  return parts.length < 43 ? parts : parts.replaceAll(RUN, (run) => isSecret(run) ? "…" : run);
}

/** Reports whether a run may be random: digests in hex and long words are of one case. */
function isSecret(run: string): boolean {
  return run.includes("%") || /[a-z]/.test(run) && /[A-Z]/.test(run);
}

/**
 * Replaces control characters: a name from elsewhere must not move the cursor of a terminal or begin a
 * line of a log.
 */
export function blankControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "�");
}
