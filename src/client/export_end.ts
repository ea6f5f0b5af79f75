/** The preference with which an export counts its records on its last line. @see EX26 */
export const COUNT_AT_END = "count=end";

/** Parts an export whose last line is a count, and checks that it is whole. */
export interface ExportEnd {
  /**
   * Takes the next bytes; returns those that belong to records.
   * @throws {Error} when something follows the count
   */
  readonly take: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
  /** Records so far. */
  readonly records: () => number;
  /** Whether the count has come, and is that of the records. */
  readonly isWhole: () => boolean;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
/** No line of records begins so: in JSON with `{`, in CSV a space is in quotes. */
const MARKS = { ndjson: /^[0-9]+\n$/, csv: /^ [0-9]+\r\n$/ } as const;
const MAX_COUNT_BYTES = 24;

/**
 * Opens the check of an export's end. HTTP/1.0 has none: the end of the connection is the end of the
 * body, so that a proxy that speaks it passes a stream that broke off on as if it were whole.
 * @see EX26
 */
export function openExportEnd(form: keyof typeof MARKS): ExportEnd {
  // The first line of CSV is the header.
  let lines = form === "csv" ? -1 : 0;
  let isStart = true;
  let isQuoted = false;
  let isEnd = false;
  let count = "";

  function isMark(code: number): boolean {
    return form === "csv" ? code === 0x20 : code >= 0x30 && code <= 0x39;
  }

  /** Finds where the count begins; the length if it does not. */
  function findEnd(bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at]!;
      if (isStart && isMark(code)) {
        isEnd = true;
        return at;
      }
      if (form === "csv" && code === QUOTE) isQuoted = !isQuoted;
      isStart = code === LINE_FEED && !isQuoted;
      if (isStart) lines++;
    }
    return bytes.length;
  }

  const records = () => Math.max(0, lines);
  return {
    take(bytes) {
      const at = isEnd ? 0 : findEnd(bytes);
      if (!isEnd) return bytes;
      count += new TextDecoder().decode(bytes.subarray(at, at + MAX_COUNT_BYTES));
      if (count.length > MAX_COUNT_BYTES) {
        throw new Error("There is data after the end of the export");
      }
      return bytes.subarray(0, at);
    },
    records,
    isWhole: () => MARKS[form].test(count) && Number(count) === records(),
  };
}
