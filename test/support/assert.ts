/**
 * Stands in for `@std/assert` from JSR: same names, same meaning, for what the tests here use.
 * `deno task test:jsr` runs them with the original. @see DESIGN
 */
import { equal } from "./equal.ts";
import { show } from "./show.ts";

export { equal };
export * from "./assert_failure.ts";
export { AssertionError } from "./assertion_error.ts";
import { AssertionError } from "./assertion_error.ts";

function refuse(told: string, message: string | undefined): never {
  throw new AssertionError(message === undefined ? told : `${told}: ${message}`);
}

/** Holds when the value is truthy. */
export function assert(value: unknown, message = ""): asserts value {
  if (!value) throw new AssertionError(message);
}

/** Holds when the value is false. */
export function assertFalse(value: unknown, message = ""): void {
  if (value) throw new AssertionError(message);
}

/** Fails always. */
export function fail(message?: string): never {
  refuse("Failed assertion", message);
}

/** Fails always: nobody comes here. */
export function unreachable(message?: string): never {
  refuse("Unreachable", message);
}

/** Holds when both are structurally equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  if (equal(actual, expected)) return;
  refuse(
    `Values are not equal\n    actual:   ${show(actual)}\n    expected: ${show(expected)}`,
    message,
  );
}

/** Holds when both are not structurally equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  if (equal(actual, expected)) {
    refuse(`Expected actual: ${show(actual)} not to be: ${show(expected)}`, message);
  }
}

/** Holds when both are the same by `Object.is`. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  refuse(
    `Values are not strictly equal\n    actual:   ${show(actual)}\n    expected: ${show(expected)}`,
    message,
  );
}

/** Holds when both are not the same by `Object.is`. */
export function assertNotStrictEquals(actual: unknown, expected: unknown, message?: string): void {
  if (Object.is(actual, expected)) {
    refuse(`Expected "actual" not to be strictly equal to: ${show(actual)}`, message);
  }
}

/** Holds when the value is neither null nor undefined. */
export function assertExists<T>(actual: T, message?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) {
    refuse(`Expected actual: ${show(actual)} to not be null or undefined`, message);
  }
}

/** Holds when the numbers differ by the tolerance at most. */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance = Math.abs(expected) * 1e-7,
  message?: string,
): void {
  if (Object.is(actual, expected) || Math.abs(expected - actual) <= tolerance) return;
  refuse(`Expected actual: ${actual} to be close to ${expected}`, message);
}

/** Holds when the first is greater. */
export function assertGreater<T>(actual: T, expected: T, message?: string): void {
  if (!(actual > expected)) refuse(`Expect ${show(actual)} > ${show(expected)}`, message);
}

/** Holds when the first is greater or equal. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void {
  if (!(actual >= expected)) refuse(`Expect ${show(actual)} >= ${show(expected)}`, message);
}

/** Holds when the first is less. */
export function assertLess<T>(actual: T, expected: T, message?: string): void {
  if (!(actual < expected)) refuse(`Expect ${show(actual)} < ${show(expected)}`, message);
}

/** Holds when the first is less or equal. */
export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void {
  if (!(actual <= expected)) refuse(`Expect ${show(actual)} <= ${show(expected)}`, message);
}

/** Holds when the text contains the other. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (actual.includes(expected)) return;
  refuse(`Expected actual: ${show(actual)} to contain: ${show(expected)}`, message);
}

/** Holds when the pattern matches. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  if (!expected.test(actual)) {
    refuse(`Expected actual: ${show(actual)} to match: ${expected}`, message);
  }
}

/** Holds when the pattern does not match. */
export function assertNotMatch(actual: string, expected: RegExp, message?: string): void {
  if (expected.test(actual)) {
    refuse(`Expected actual: ${show(actual)} to not match: ${expected}`, message);
  }
}

/** Holds when each of the expected items is structurally equal to one of the actual. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  message?: string,
): void {
  const items = Array.from(actual);
  const missing = Array.from(expected).filter((item) => !items.some((own) => equal(own, item)));
  if (missing.length === 0) return;
  refuse(`Expected actual: ${show(actual)} to include: ${show(missing)}`, message);
}

// deno-lint-ignore no-explicit-any -- as in the original
type Constructor<T> = new (...parameters: any[]) => T;

/** Holds when the value is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  expected: Constructor<T>,
  message?: string,
): asserts actual is T {
  if (actual instanceof expected) return;
  refuse(`Expected object to be an instance of "${expected.name}": ${show(actual)}`, message);
}

/** Holds when each expected member is there and equal; others may be there too. */
export function assertObjectMatch(
  actual: Record<PropertyKey, unknown>,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void {
  if (includes(actual, expected)) return;
  refuse(
    `Values are not equal\n    actual:   ${show(actual)}\n    to hold:  ${show(expected)}`,
    message,
  );
}

function includes(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length >= expected.length &&
      expected.every((item, at) => includes(actual[at], item));
  }
  const plain = typeof expected === "object" && expected !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(expected));
  if (!plain || typeof actual !== "object" || actual === null) return equal(actual, expected);
  return Reflect.ownKeys(expected).every((key) =>
    Reflect.has(actual, key) && includes(Reflect.get(actual, key), Reflect.get(expected, key))
  );
}
