/** A value of a row as Postgres sent it: a part of the row's bytes. It is used again for the next one. */
export interface RowValue {
  bytes: Uint8Array;
  start: number;
  /** Where the length of the next value is. */
  end: number;
}

/** Bytes of the length before each value. */
const LENGTH_BYTES = 4;

/** Makes a value without bytes. */
export function openRowValue(): RowValue {
  return { bytes: new Uint8Array(), start: 0, end: 0 };
}

/** Goes to the beginning of a row; {@link nextValue} goes to its first value. */
export function beginRow(value: RowValue, row: Uint8Array, start: number): void {
  value.bytes = row;
  value.end = start;
}

/** Goes to the next value, and gives whether there is one: false for NULL. */
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
