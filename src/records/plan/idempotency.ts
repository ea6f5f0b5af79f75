/**
 * The `Idempotency-Key` of an update. The answer is stored under it, and replayed for the same
 * request.
 * @see docs/specification/idempotency.md
 */
export interface Idempotency {
  /** Keys belong to a token. */
  readonly tokenId: string;
  readonly key: string;
  /** Identifies the request: everything that its answer depends on. */
  readonly request: string;
  /** How long the answer is stored. */
  readonly hours: number;
}
