import * as v from "valibot";

/** A place in the write-ahead log of a database. */
export interface Position {
  /** The timeline of the primary that wrote it, which grows with each promotion. */
  readonly timeline: number;
  /** Bytes from the beginning of the log. */
  readonly bytes: bigint;
}

/** More than any log has: the position of a write that is unknown. */
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

/** Returns the later of two positions. */
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
 * Returns the end of the written log. Postgres reports the position of the next record. If a page is
 * full, that is after the header of the next page, while a standby that has replayed everything is
 * still before that header.
 */
export function endOfLog(insertAt: bigint): bigint {
  return insertAt % PAGE_BYTES === PAGE_HEADER_BYTES ? insertAt - PAGE_HEADER_BYTES : insertAt;
}

/** The state of a server's log. */
export interface LogState extends Position {
  /** The system identifier from initdb. */
  readonly system: string;
  readonly standby: boolean;
  /** When the server was started; after a restart it may have replayed less than before. */
  readonly started: string;
  /** Where its timeline began, if it was promoted since it was started. */
  readonly forkedAt: bigint | undefined;
}

/** Reads the timeline from the name of a WAL file, which begins with it in eight digits. */
export function parseTimeline(file: string): number {
  return parseInt(file.slice(0, 8), 16);
}
