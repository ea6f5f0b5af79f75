/**
 * The `Idempotency-Key` of an update: its answer is kept under it, and given again to the same request.
 * @see docs/specification/idempotency.md
 */
export interface Idempotency {
  /** Keys belong to a token. */
  readonly tokenId: string;
  readonly key: string;
  /** SHA-256 of all that the answer depends on, in hexadecimal. */
  readonly request: string;
  /** For how long the answer is given again. */
  readonly hours: number;
}
