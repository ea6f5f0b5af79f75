import * as v from "valibot";

/** A place in the write-ahead log of a database. */
export interface Position {
  /** Of the primary that wrote it: one more after each promotion. */
  readonly timeline: number;
  /** Bytes from the beginning of the log. */
  readonly bytes: bigint;
}

/** No log is so long: the place of a write that is not known. */
export const UNKNOWN_BYTES = 2n ** 64n - 1n;

const TEXT = v.pipe(v.string(), v.regex(/^(\d{1,10}) (\d{1,20})$/));

/** Prints a position. */
export function printPosition({ timeline, bytes }: Position): string {
  return `${timeline} ${bytes}`;
}

/** Parses what `printPosition` printed. */
export function parsePosition(text: string): Position {
  const [timeline = "", bytes = ""] = v.parse(TEXT, text).split(" ");
  return { timeline: Number(timeline), bytes: BigInt(bytes) };
}

/** Gives the later one of two positions. */
export function laterOf(one: Position, other: Position): Position {
  const isLater = one.timeline === other.timeline
    ? one.bytes > other.bytes
    : one.timeline > other.timeline;
  return isLater ? one : other;
}

/** Size of a page of the log, and of the header that each begins with. */
const PAGE_BYTES = 8192n;
const PAGE_HEADER_BYTES = 24n;

/**
 * Gives where the log that is written ends. Postgres names the place of the next record, which is behind
 * the header of a page where the page before is full; a standby that has everything is in front of it.
 */
export function endOfLog(insertAt: bigint): bigint {
  return insertAt % PAGE_BYTES === PAGE_HEADER_BYTES ? insertAt - PAGE_HEADER_BYTES : insertAt;
}

/** What a server says of its log. */
export interface LogState extends Position {
  /** What initdb gave the data. */
  readonly system: string;
  readonly standby: boolean;
  /** When the server was started: what it has replayed may be less than before. */
  readonly started: string;
  /** Where its timeline began, if it was promoted since it was started. */
  readonly forkedAt: bigint | undefined;
}

/** The name of a file of the log begins with its timeline, as eight digits. */
export function parseTimeline(file: string): number {
  return parseInt(file.slice(0, 8), 16);
}
