/**
 * A value of a row as Postgres sent it: a range of the row's bytes. The object is reused for each
 * value.
 */
export interface RowValue {
  bytes: Uint8Array;
  start: number;
  /** End of this value, where the length of the next one is. */
  end: number;
}

/** Bytes of the length before each value. */
const LENGTH_BYTES = 4;

/** Makes an empty value. */
export function openRowValue(): RowValue {
  return { bytes: new Uint8Array(), start: 0, end: 0 };
}

/** Moves to the start of a row; {@link nextValue} then moves to its first value. */
export function beginRow(value: RowValue, row: Uint8Array, start: number): void {
  value.bytes = row;
  value.end = start;
}

/** Moves to the next value; returns false if it is NULL. */
export function nextValue(value: RowValue): boolean {
  const { bytes, end } = value;
  const length = bytes[end]! << 24 | bytes[end + 1]! << 16 | bytes[end + 2]! << 8 | bytes[end + 3]!;
  value.start = end + LENGTH_BYTES;
  value.end = value.start + Math.max(length, 0);
  return length >= 0;
}

/** Gives the bytes of a value. */
export function bytesOf({ bytes, start, end }: RowValue): Uint8Array {
  return bytes.subarray(start, end);
}
