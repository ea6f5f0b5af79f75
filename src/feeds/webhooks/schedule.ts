/** Seconds between the attempts of a message, as Standard Webhooks recommends; three days in all. */
const DELAYS_SECONDS: readonly number[] = [
  5,
  300,
  1800,
  7200,
  18_000,
  36_000,
  50_400,
  72_000,
  86_400,
];

/** Attempts of a message before its webhook is disabled. @see WH14 */
export const MAX_ATTEMPTS = DELAYS_SECONDS.length + 1;
/** Longest delay that a receiver can ask for with `Retry-After`. @see WH15 */
const MAX_RETRY_AFTER_SECONDS = 86_400;
/** A delay is lengthened by up to this part, so that retries do not reach a receiver all at once. */
const JITTER = 0.2;

/** A failed attempt, from which the time of the next one follows. */
export interface FailedAttempt {
  /** Attempts that have failed, this one included. */
  readonly attempts: number;
  /** Seconds that the receiver asks to wait. */
  readonly retryAfter: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * Returns the seconds until the next attempt; undefined after the last one. A `Retry-After` can make
 * the wait longer, never shorter.
 * @see WH14, WH15
 */
export function planRetry({ attempts, retryAfter = 0, random }: FailedAttempt): number | undefined {
  const delay = DELAYS_SECONDS[attempts - 1];
  if (delay === undefined) return undefined;
  return Math.max(delay * (1 + JITTER * random), Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS));
}

/** Reads `Retry-After`, in seconds or as a date; undefined for anything else. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const seconds = Math.ceil((Date.parse(header) - nowMs) / 1000);
  return seconds > 0 ? seconds : undefined;
}
