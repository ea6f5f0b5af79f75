/** A value of a condition. @see Q34 */
export type Scalar = string | number | boolean | null;

/** Any JSON value, numbers safe, strings well-formed. */
export type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };

/** Tells whether a JSON value is a scalar. @see Q34 */
export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== "object";
}

/** Tells whether a value is an object of JSON: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
