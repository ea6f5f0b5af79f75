/**
 * Stands in for `@std/assert` where JSR cannot be reached: the same names and the same meaning, for
 * what the tests here use.
 */
import { AssertionError, show } from "./assertion_error.ts";
import { equal } from "./equal.ts";

export { assertRejects, assertThrows } from "./assert_failure.ts";

function fail(reason: string, message: string | undefined): never {
  throw new AssertionError(message === undefined ? reason : `${reason}: ${message}`);
}

/** Holds when the value is truthy. */
export function assert(value: unknown, message = ""): asserts value {
  if (!value) throw new AssertionError(message);
}

/** Holds when both are structurally equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  if (equal(actual, expected)) return;
  fail(
    `Values are not equal\n    actual:   ${show(actual)}\n    expected: ${show(expected)}`,
    message,
  );
}

/** Holds when both are not structurally equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  if (equal(actual, expected)) {
    fail(`Expected actual: ${show(actual)} not to be: ${show(expected)}`, message);
  }
}

/** Holds when both are the same by `Object.is`. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  fail(
    `Values are not strictly equal\n    actual:   ${show(actual)}\n    expected: ${show(expected)}`,
    message,
  );
}

/** Holds when the text contains the other. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (actual.includes(expected)) return;
  fail(`Expected actual: ${show(actual)} to contain: ${show(expected)}`, message);
}

/** Holds when the pattern matches. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  if (!expected.test(actual)) {
    fail(`Expected actual: ${show(actual)} to match: ${expected}`, message);
  }
}

/** Holds when the pattern does not match. */
export function assertNotMatch(actual: string, expected: RegExp, message?: string): void {
  if (expected.test(actual)) {
    fail(`Expected actual: ${show(actual)} to not match: ${expected}`, message);
  }
}
