import { MAX_TOOL_RESULT_BYTES } from "../basics/errors/limits.ts";

/** A response of the service, a JSON object as text, with a list that can be long. */
export interface LongAnswer {
  readonly json: string;
  /** The key of the list, which is the last member of the answer. */
  readonly list: string;
  /** Returns advice on how to get the rest; `entries` are left. */
  readonly advise: (entries: number) => string;
}

/** Bytes that are reserved for a note. */
const NOTE_BYTES = 600;
const UTF_8 = new TextEncoder();

/** Returns the bytes of a text in UTF-8. */
export function countBytes(text: string): number {
  return UTF_8.encode(text).length;
}

/** Reports whether the result of a tool may be as long as this text. */
export function fitsResult(json: string): boolean {
  return json.length * 3 <= MAX_TOOL_RESULT_BYTES || countBytes(json) <= MAX_TOOL_RESULT_BYTES;
}

/** Adds a member `note` to a JSON object, as its last. */
export function addNote(json: string, note: string): string {
  return addMember(json, "note", note);
}

/** Adds a member to a JSON object, as its last. */
export function addMember(json: string, name: string, value: string): string {
  return `${json.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
}

/**
 * Cuts a response that is too long after a whole entry of its list, and says so in `note`; the result
 * is JSON.
 * @see MC9
 */
export function cutResult({ json, list, advise }: LongAnswer): string {
  if (fitsResult(json)) return json;
  const { end, entries } = takeEntries(json, list);
  const note = `Cut after ${entries} entries of ${list}, because a result has at most ` +
    `${MAX_TOOL_RESULT_BYTES} bytes. ${advise(entries)}`;
  return addNote(`${json.slice(0, end)}]}`, note);
}

/**
 * Finds where the last entry of a list ends that fits into a result, and counts the entries up to
 * there.
 */
export function takeEntries(
  json: string,
  list: string,
): { readonly end: number; readonly entries: number } {
  // Before the list there is no text of a client or the database, except names.
  const start = json.indexOf(`"${list}":[`) + list.length + 4;
  const most = MAX_TOOL_RESULT_BYTES - NOTE_BYTES - countBytes(json.slice(0, start));
  let end = start;
  let entries = 0;
  let bytes = 0;
  let depth = 0;
  let inString = false;
  for (let at = start; bytes <= most; at++) {
    const character = json[at];
    if (inString) {
      if (character === "\\") at++;
      else inString = character !== '"';
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    const isEnd = !inString && (depth < 0 || depth === 0 && character === ",");
    // An entry is read only up to the longest that it may be.
    if (!isEnd && at - end <= most) continue;
    bytes += countBytes(json.slice(end, at));
    if (!isEnd || bytes > most) break;
    entries++;
    end = at;
    if (depth < 0) break;
  }
  return { end, entries };
}
