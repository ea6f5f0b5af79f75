/**
 * The `Idempotency-Key` of an update: its answer is kept under it, and given again to the same request.
 * @see docs/specification/idempotency.md
 */
export interface Idempotency {
  /** Keys belong to a token. */
  readonly tokenId: string;
  readonly key: string;
  /** All that the answer depends on; two requests with the same text are the same. */
  readonly request: string;
  /** For how long the answer is given again. */
  readonly hours: number;
}
