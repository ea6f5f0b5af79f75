import { AssertionError } from "./assertion_error.ts";
import { show } from "./show.ts";

// deno-lint-ignore no-explicit-any -- as in the original
type ErrorClass<E extends Error> = abstract new (...parameters: any[]) => E;

/** Holds when the error is of the class and its message contains the text. */
function assertIsError<E extends Error = Error>(
  error: unknown,
  expected?: ErrorClass<E>,
  contains?: string | RegExp,
  message?: string,
): asserts error is E {
  const suffix = message === undefined ? "" : `: ${message}`;
  if (!(error instanceof Error)) {
    throw new AssertionError(`Expected "error" to be an Error object${suffix}: ${show(error)}`);
  }
  if (expected !== undefined && !(error instanceof expected)) {
    throw new AssertionError(
      `Expected error to be instance of "${expected.name}", but was "${error.constructor.name}"${suffix}\n${error.stack}`,
    );
  }
  if (contains === undefined) return;
  const found = typeof contains === "string"
    ? error.message.includes(contains)
    : contains.test(error.message);
  if (found) return;
  throw new AssertionError(
    `Expected error message to include ${show(String(contains))}, but got ${
      show(error.message)
    }${suffix}`,
  );
}

/** Holds when the function throws, an error of the class and text if they are given; gives it back. */
export function assertThrows(body: () => unknown, message?: string): unknown;
export function assertThrows<E extends Error = Error>(
  body: () => unknown,
  expected: ErrorClass<E>,
  contains?: string,
  message?: string,
): E;
export function assertThrows(
  body: () => unknown,
  expected?: ErrorClass<Error> | string,
  contains?: string,
  message?: string,
): unknown {
  try {
    body();
  } catch (error) {
    return checkError(error, { expected, contains, message });
  }
  throw new AssertionError(`Expected function to throw${describe(expected, message)}`);
}

/** Holds when the promise rejects, with an error of the class and text if they are given. */
export function assertRejects(body: () => PromiseLike<unknown>, message?: string): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  body: () => PromiseLike<unknown>,
  expected: ErrorClass<E>,
  contains?: string,
  message?: string,
): Promise<E>;
export async function assertRejects(
  body: () => PromiseLike<unknown>,
  expected?: ErrorClass<Error> | string,
  contains?: string,
  message?: string,
): Promise<unknown> {
  let promise: PromiseLike<unknown>;
  try {
    promise = body();
  } catch (error) {
    throw new AssertionError(`Function throws when expected to reject: ${show(error)}`);
  }
  try {
    await promise;
  } catch (error) {
    return checkError(error, { expected, contains, message });
  }
  throw new AssertionError(`Expected function to reject${describe(expected, message)}`);
}

interface Expectation {
  readonly expected: ErrorClass<Error> | string | undefined;
  readonly contains: string | undefined;
  readonly message: string | undefined;
}

function checkError(error: unknown, { expected, contains, message }: Expectation): unknown {
  if (typeof expected === "function") assertIsError(error, expected, contains, message);
  return error;
}

function describe(expected: ErrorClass<Error> | string | undefined, message?: string): string {
  const text = typeof expected === "string" ? expected : message;
  return text === undefined ? "" : `: ${text}`;
}
