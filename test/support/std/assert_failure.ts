import { AssertionError, show } from "./assertion_error.ts";

// deno-lint-ignore no-explicit-any -- as in the original
type ErrorClass<E extends Error> = abstract new (...parameters: any[]) => E;

/** Holds when the function throws, an error of the class and text if they are given; returns it. */
export function assertThrows(body: () => unknown): unknown;
export function assertThrows<E extends Error = Error>(
  body: () => unknown,
  expected: ErrorClass<E>,
  contains?: string,
): E;
export function assertThrows(
  body: () => unknown,
  expected?: ErrorClass<Error>,
  contains?: string,
): unknown {
  try {
    body();
  } catch (error) {
    return checkError(error, expected, contains);
  }
  throw new AssertionError("Expected function to throw");
}

/** Holds when the promise rejects, with an error of the class and text if they are given; resolves to it. */
export function assertRejects(body: () => PromiseLike<unknown>): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  body: () => PromiseLike<unknown>,
  expected: ErrorClass<E>,
  contains?: string,
): Promise<E>;
export async function assertRejects(
  body: () => PromiseLike<unknown>,
  expected?: ErrorClass<Error>,
  contains?: string,
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
    return checkError(error, expected, contains);
  }
  throw new AssertionError("Expected function to reject");
}

function checkError(
  error: unknown,
  expected: ErrorClass<Error> | undefined,
  contains = "",
): unknown {
  if (expected === undefined) return error;
  if (!(error instanceof expected)) {
    throw new AssertionError(`Expected an error of "${expected.name}", but got ${show(error)}`);
  }
  if (error.message.includes(contains)) return error;
  throw new AssertionError(
    `Expected error message to include ${show(contains)}, but got ${show(error.message)}`,
  );
}
