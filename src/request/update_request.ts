import type { Scalar } from "./filter.ts";

/** Any JSON value, numbers safe, strings well-formed. */
export type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };

/** An update whose shape is right; names and values are still the client's words. @see spec 4.2 */
export interface UpdateRequest {
  /** Name and value of each equality, in document order; at least one. */
  readonly filters: readonly (readonly [field: string, value: Scalar])[];
  /** Name and new value of each field, in document order; at least one. */
  readonly fields: readonly (readonly [field: string, value: Json])[];
  /** The parsed body, for the order of later issues and the echo of `fields`. */
  readonly document: { readonly filters: object; readonly fields: object };
}
