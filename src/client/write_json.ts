import { createError, type RowgateError } from "./errors.ts";

/** The part of `JSON` that not every runtime has: numbers with the digits of a text. */
interface RawJson {
  readonly isRawJSON?: (value: unknown) => boolean;
}

/**
 * Writes a value as JSON that says exactly the same. `JSON.stringify` would drop a condition whose
 * value is undefined, so that an update reaches more rows, and would turn NaN into null, which means
 * IS NULL.
 * @throws {RowgateError} 400, naming the path, for a value that JSON would drop or change
 * @see CL1
 */
export function writeJson(value: unknown, path = "", holders: readonly object[] = []): string {
  const reject = (found: string, expected: string): RowgateError =>
    createRejection(path, `${found} cannot be sent as JSON, expected ${expected}`);
  switch (typeof value) {
    case "string":
      return writeText(value, path);
    case "boolean":
      return String(value);
    case "number":
    case "bigint":
      if (isNaN(Number(value)) || value === Infinity || value === -Infinity) {
        throw reject(String(value), "a finite number");
      }
      if (isUnsafe(value)) throw reject(String(value), "a string, which keeps every digit");
      return Object.is(value, -0) ? "-0" : String(value);
    case "undefined":
      throw reject("undefined", "a value, or null for NULL");
    case "object":
      break;
    default:
      throw reject(`a ${typeof value}`, "a value");
  }
  if (value === null) return "null";
  if ((JSON as RawJson).isRawJSON?.(value)) return JSON.stringify(value);
  if (holders.includes(value)) throw reject("an object that contains itself", "a tree");
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Date.prototype && Reflect.ownKeys(value).length === 0) {
    const time = (value as Date).getTime();
    if (isNaN(time)) throw reject("an invalid Date", "a valid one, or null for NULL");
    return JSON.stringify(new Date(time));
  }
  if (Array.isArray(value) ? !Array.isArray(prototype) : !isPlain(prototype)) {
    const name = prototype?.constructor?.name || "without a name";
    throw reject(`an object of the class ${name}`, "plain objects and arrays");
  }
  return writeMembers(value, path, [...holders, value]);
}

/** Writes the members of an object or the items of an array: each of its own, and nothing else. */
function writeMembers(holder: object, path: string, holders: readonly object[]): string {
  const items = Array.isArray(holder) ? holder.length : undefined;
  const written: string[] = [];
  for (const key of Reflect.ownKeys(holder)) {
    if (items !== undefined && key === "length") continue;
    const name = String(key);
    const isItem = items !== undefined && written.length < items;
    const place = isItem
      ? `${path}[${written.length}]`
      : (path && `${path}.`) + (/^\w+$/.test(name) ? name : JSON.stringify(name));
    if (isItem && name !== String(written.length)) writeJson(undefined, place);
    const { enumerable, value, get } = Object.getOwnPropertyDescriptor(holder, key)!;
    if (!enumerable || get || typeof key === "symbol" || items !== undefined && !isItem) {
      throw createRejection(place, "only plain members can be sent as JSON");
    }
    const json = writeJson(value, place, holders);
    written.push(isItem ? json : `${writeText(key, place)}:${json}`);
  }
  if (items === undefined) return `{${written}}`;
  if (written.length < items) writeJson(undefined, `${path}[${written.length}]`);
  return `[${written}]`;
}

/** Writes a text, unless it has half of a surrogate pair, which UTF-8 cannot express. */
function writeText(text: string, path: string): string {
  if (/\p{Surrogate}/u.test(text)) {
    throw createRejection(path, "a lone surrogate cannot be sent, expected whole characters");
  }
  return JSON.stringify(text);
}

/** Creates the error of a call that is not sent. */
export function createRejection(path: string, message: string): RowgateError {
  return createError(`${path || "body"}: ${message}; nothing was sent`, {
    status: 400,
    attempts: 0,
  });
}

/**
 * Whether the service rejects a number, since a client may have rounded it: an integer beyond 2^53 - 1.
 * One with an exponent and few digits is as it was written.
 */
function isUnsafe(value: number | bigint): boolean {
  return /^-?\d{16}/.test(String(value).replace(".", "")) &&
    Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER;
}

/** Whether an object is plain: of `{}`, also of another window or context, or without a prototype. */
function isPlain(prototype: object | null): boolean {
  return prototype === null || prototype === Object.prototype ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"));
}
