import type { RateLimit } from "../config/shapes.ts";
import { ApiError } from "../errors/api_error.ts";
import { openBuckets } from "./buckets.ts";
import { networkOf } from "./network.ts";

/** How a request stands to the limit of its token. */
export interface Standing {
  /** `RateLimit` and `RateLimit-Policy`, for whatever the request is answered with. */
  readonly headers: Readonly<Record<string, string>>;
  /** 429 with `Retry-After`; undefined: go on. */
  readonly refusal: ApiError | undefined;
}

/** The limits of one service. */
export interface RateLimits {
  /** Counts a request of a valid token. */
  readonly countRequest: (tokenId: string) => Standing;
  /**
   * Counts a token that was refused to a peer; gives 429 with `Retry-After` when there were too
   * many of them. An unknown peer is not counted.
   */
  readonly countRefusal: (peer: string | undefined) => ApiError | undefined;
}

/** What tests set. */
export interface RateLimitsOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Tokens, and networks of peers, that are remembered; about 15 MB each when full. */
const MAX_BUCKETS = 100_000;

/**
 * Opens the limits: a token bucket for each token, by its id, and one of the same size for the
 * refused tokens of each peer address. Nothing but these two is a key, and no valid token is ever
 * refused for what others sent.
 * @see H11, H12
 */
export function openRateLimits(
  { requests, windowSeconds }: RateLimit,
  { now = () => performance.now() }: RateLimitsOptions = {},
): RateLimits {
  const options = { capacity: requests, windowSeconds, size: MAX_BUCKETS, now };
  const tokens = openBuckets(options);
  const peers = openBuckets(options);
  const policy = `"default";q=${requests};w=${windowSeconds}`;
  const allowed = `${requests} requests in ${windowSeconds} s`;

  function countRequest(tokenId: string): Standing {
    const { granted, remaining, nextSeconds } = tokens.draw(tokenId);
    const headers = {
      "RateLimit-Policy": policy,
      "RateLimit": `"default";r=${remaining};t=${nextSeconds}`,
    };
    if (granted) return { headers, refusal: undefined };
    const message = `The rate limit of this token is reached, expected at most ${allowed}`;
    return { headers, refusal: refuse(message, nextSeconds) };
  }

  function countRefusal(peer: string | undefined): ApiError | undefined {
    if (peer === undefined) return undefined;
    const { granted, nextSeconds } = peers.draw(networkOf(peer));
    if (granted) return undefined;
    return refuse("Authorization: too many invalid API tokens from this address", nextSeconds);
  }

  return { countRequest, countRefusal };
}

function refuse(message: string, seconds: number): ApiError {
  return new ApiError(429, `${message}, try again in ${seconds} s`, {
    headers: { "Retry-After": String(seconds) },
  });
}
