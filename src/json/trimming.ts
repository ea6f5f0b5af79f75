import type { JsonContainer } from "./json.ts";

/**
 * What an array or object of a long document is used for. `read` is kept. `quoted` is an error, and
 * at most its beginning is shown in a message. Of `unread`, only the text is used. Of `skipped`,
 * nothing is used, because the text of its container includes it.
 */
export type Use = "read" | "quoted" | "unread" | "skipped";

/**
 * Returns what the array or object at a path is used for; called for parts of containers that are
 * `read`.
 */
export type UseOf = (
  path: readonly (string | number)[],
  isArray: boolean,
) => Use;

/** A message shows 100 characters of a value, and each entry of an array takes at least two. */
const ENTRIES_QUOTED = 101;
/** Arrays and objects inside a quoted one that are kept, in order. */
const CONTAINERS_QUOTED = 100;
/** More than the values of one member that a message can show. */
const MAX_QUOTED = 20;
/** More than a table has columns: a document with more parts that are not `read` is rejected. */
const MAX_TRIMMED = 2000;

/** Replaces a part that is not kept. It is not a scalar, so that nothing mistakes it for a value. */
const DROPPED_ARRAY: unknown[] = Object.freeze<unknown[]>([]) as unknown[];
const DROPPED_OBJECT: Record<string, unknown> = Object.freeze(Object.create(null));

/**
 * Drops parts of a long document while it is read, since `{},`, three bytes of text, takes 64 bytes
 * of memory. The parser still reads all of the text, so invalid JSON is always rejected.
 */
export interface Trimming {
  readonly useOf: UseOf;
  readonly maxTrimmed: number;
  /** Depth of the outermost open container that is not `read`. */
  from: number;
  /** Depth of the outermost open container that is dropped. */
  dropped: number;
  /** Containers that the quoted one may still keep. */
  room: number;
  /** True while the outermost open container that is not `read` is `skipped`. */
  skips: boolean;
  /** Number of outermost containers so far that are `quoted` or `unread`. */
  trimmed: number;
  /** How many of them in the same member of the document are quoted. */
  quoted: number;
}

/** Starts to trim a document. */
export function startTrimming(useOf: UseOf, maxTrimmed = MAX_TRIMMED): Trimming {
  return {
    useOf,
    maxTrimmed,
    from: Infinity,
    dropped: Infinity,
    room: 0,
    skips: false,
    trimmed: 0,
    quoted: 0,
  };
}

/** The place that is being read. */
interface Place {
  readonly path: readonly (string | number)[];
}

/** Called for a container that opens at `reader.path`. */
export function openTrimmed(trimming: Trimming, { path }: Place, isArray: boolean): void {
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
  trimming.skips = use === "skipped";
  if (trimming.skips) {
    trimming.dropped = depth;
    return;
  }
  trimming.trimmed++;
  const quoted = use === "quoted" && trimming.quoted++ < MAX_QUOTED;
  trimming.room = quoted ? CONTAINERS_QUOTED : 0;
  if (use === "unread" || trimming.trimmed > trimming.maxTrimmed) trimming.dropped = depth;
}

/** Returns what is kept of a container that ends at `reader.path`. */
export function closeTrimmed(
  trimming: Trimming,
  { path }: Place,
  container: JsonContainer,
): JsonContainer {
  const depth = path.length;
  const { dropped, from, trimmed, skips, maxTrimmed } = trimming;
  if (depth === from) trimming.from = Infinity;
  if (depth < dropped) return container;
  if (depth === dropped) trimming.dropped = Infinity;
  const isArray = Array.isArray(container);
  // A new object, by which its text can be found.
  if (depth === from && trimmed <= maxTrimmed && !skips) return isArray ? [] : Object.create(null);
  return isArray ? DROPPED_ARRAY : DROPPED_OBJECT;
}

/**
 * Puts a value into the innermost open container, if that is kept. An object always keeps its keys
 * while it is open, so that a repeated one is found.
 */
export function putTrimmed(
  { from, dropped }: Trimming,
  { path }: Place,
  { container, value }: { readonly container: JsonContainer; readonly value: unknown },
): void {
  const depth = path.length - 1;
  const keeps = depth < dropped;
  if (!Array.isArray(container)) container[path[depth]!] = keeps ? value : null;
  else if (keeps && (depth < from || container.length < ENTRIES_QUOTED)) container.push(value);
}
