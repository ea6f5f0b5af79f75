import type { JsonContainer, JsonReader } from "./json_reader.ts";

/**
 * What an array or object of a long document is for: `read` is kept whole; `quoted` is wrong where it
 * stands, so a message shows its beginning at most; of `unread` nothing is used but its text.
 */
export type Use = "read" | "quoted" | "unread";

/** Tells what the array or object is for that opens at a path; asked again for what is `read` alone. */
export type UseOf = (
  path: readonly (string | number)[],
  isArray: boolean,
) => Use;

/** A message shows 100 characters of a value, and each entry of an array takes two at least. */
const ENTRIES_QUOTED = 101;
/** Arrays and objects inside a quoted one that are kept, in the order of the text. */
const CONTAINERS_QUOTED = 100;
/** More than the values of one member of which a message can tell. */
const MAX_QUOTED = 20;
/** More than an update has columns: a document with more of what is not `read` is refused. */
const MAX_TRIMMED = 2000;

/** In place of what is not kept. No scalar, so that nothing takes it for a value. */
const DROPPED_ARRAY: unknown[] = Object.freeze<unknown[]>([]) as unknown[];
const DROPPED_OBJECT: Record<string, unknown> = Object.freeze(Object.create(null));

/**
 * What the reader of a long document does not keep: `{},` makes three bytes of text 64 bytes of memory.
 * All of it is read, so that what is no JSON is refused wherever it stands.
 */
export interface Trimming {
  readonly useOf: UseOf;
  /** Depth of the outermost open container that is not `read`. */
  from: number;
  /** Depth of the outermost open container of which nothing is kept. */
  dropped: number;
  /** Containers that the quoted one has room for. */
  room: number;
  /** Outermost containers so far that are not `read`. */
  trimmed: number;
  /** Those of the same member of the document that are quoted. */
  quoted: number;
}

/** Starts to trim a document. */
export function startTrimming(useOf: UseOf): Trimming {
  return { useOf, from: Infinity, dropped: Infinity, room: 0, trimmed: 0, quoted: 0 };
}

/** Hears of a container that opens at `reader.path`. */
export function openTrimmed(trimming: Trimming, { path }: JsonReader, isArray: boolean): void {
  const depth = path.length;
  if (depth > trimming.dropped) return;
  if (depth > trimming.from) {
    if (trimming.room-- <= 0) trimming.dropped = depth;
    return;
  }
  if (depth === 1) trimming.quoted = 0;
  const use = trimming.useOf(path, isArray);
  if (use === "read") return;
  trimming.from = depth;
  trimming.trimmed++;
  const quoted = use === "quoted" && trimming.quoted++ < MAX_QUOTED;
  trimming.room = quoted ? CONTAINERS_QUOTED : 0;
  if (use === "unread" || trimming.trimmed > MAX_TRIMMED) trimming.dropped = depth;
}

/** Gives what stands for a container that ends at `reader.path`. */
export function closeTrimmed(
  trimming: Trimming,
  { path }: JsonReader,
  container: JsonContainer,
): JsonContainer {
  const depth = path.length;
  const { dropped, from, trimmed } = trimming;
  if (depth === from) trimming.from = Infinity;
  if (depth < dropped) return container;
  if (depth === dropped) trimming.dropped = Infinity;
  const isArray = Array.isArray(container);
  // One of its own: its text may be asked for.
  if (depth === from && trimmed <= MAX_TRIMMED) return isArray ? [] : Object.create(null);
  return isArray ? DROPPED_ARRAY : DROPPED_OBJECT;
}

/**
 * Puts a value into the innermost open container, or does not. An object keeps its keys while it is
 * open: none may stand in it twice.
 */
export function putTrimmed(
  { from, dropped }: Trimming,
  { path }: JsonReader,
  { container, value }: { readonly container: JsonContainer; readonly value: unknown },
): void {
  const depth = path.length - 1;
  const keeps = depth < dropped;
  if (!Array.isArray(container)) container[path[depth]!] = keeps ? value : null;
  else if (keeps && (depth < from || container.length < ENTRIES_QUOTED)) container.push(value);
}
