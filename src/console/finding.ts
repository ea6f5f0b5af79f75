/** What is wrong, and where in the request. */
export interface Finding {
  /** `filters.and[1].or[0].value`; empty when the error names no place. */
  readonly path: string;
  readonly message: string;
}

const PLACE = String.raw`(?:filters|fields|select|sort|page|per_page)(?:\.\w+|\[\d+\])*: `;
const NEXT = new RegExp(`; (?=${PLACE})`);
const FIRST = new RegExp(`^(${PLACE})([^]*)$`);

/** Takes the text of an error apart into its findings. @see E4, E7 */
export function readFindings(error: string): readonly Finding[] {
  return error.split(NEXT).map((text) => {
    const [, place, message] = FIRST.exec(text) ?? [];
    if (place === undefined || message === undefined) return { path: "", message: text };
    return { path: place.slice(0, -2), message };
  });
}
