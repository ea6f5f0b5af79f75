/** What an assertion throws, as `@std/assert` does. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}
