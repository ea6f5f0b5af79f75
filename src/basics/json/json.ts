/** A JSON value that is neither an array nor an object. @see Q34 */
export type Scalar = string | number | boolean | null;

/** Any JSON value. Its numbers are exact, its strings well-formed. */
export type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };

/** Reports whether a JSON value is a scalar. @see Q34 */
export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== "object";
}

/** Reports whether a JSON value is an object, not null or an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An array or an object that is being read. */
export type JsonContainer = unknown[] | Record<string, unknown>;
