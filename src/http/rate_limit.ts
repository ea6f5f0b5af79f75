import type { Config } from "../server/config/config.ts";
import type { RateLimit } from "../server/config/shapes.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import type { Database } from "../database/postgres/database.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { type Draw, openBuckets } from "./buckets.ts";
import { openRateLeases, type RateLeases } from "./rate_leases.ts";
import { SharedBuckets } from "./shared_buckets.ts";

/** The state of a token's limit after a request. */
export interface Standing {
  /** `RateLimit` and `RateLimit-Policy`, for any response to the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** 429 with `Retry-After`; undefined: the request may go on. */
  readonly rejection: ApiError | undefined;
}

/** The limits of one service. */
export interface RateLimits {
  /** Counts a request of a valid token; it only sometimes has to ask the database. Never rejects. */
  readonly countRequest: (tokenId: string) => Standing | Promise<Standing>;
  /**
   * Counts an invalid token from a peer; returns a 429 with `Retry-After` if there were too many. An
   * unknown peer is not counted.
   */
  readonly countInvalidToken: (peer: string | undefined) => ApiError | undefined;
  /** Returns the leases of this process, and stops counting. */
  readonly close: () => Promise<void>;
}

/** How the limits are shared, and the clock of tests. */
export interface RateLimitsOptions {
  /** Keeps the limits of all instances; left out: this process counts by itself. */
  readonly leases?: RateLeases | undefined;
  readonly observe?: Observe;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Most tokens, and networks of peers, that are remembered. */
const MAX_BUCKETS = 100_000;

/**
 * Opens the limits: a bucket for each token, by its id, and one of the same size for the invalid
 * tokens of each peer. A valid token is never rejected because of the requests of others.
 * @see H11, H12
 */
export function openRateLimits(
  { requests, windowSeconds }: RateLimit,
  { leases, observe = () => {}, now = () => performance.now() }: RateLimitsOptions = {},
): RateLimits {
  const options = { capacity: requests, windowSeconds, size: MAX_BUCKETS, now };
  const shared = leases && new SharedBuckets({ ...options, leases, observe });
  const tokens = shared ?? openBuckets(options);
  const peers = openBuckets(options);

  function countRequest(tokenId: string): Standing | Promise<Standing> {
    const drawn = tokens.draw(tokenId);
    return drawn instanceof Promise ? drawn.then(describe) : describe(drawn);
  }

  function describe({ granted, remaining, nextSeconds }: Draw): Standing {
    const headers = {
      "RateLimit-Policy": `"default";q=${requests};w=${windowSeconds}`,
      "RateLimit": `"default";r=${remaining};t=${nextSeconds}`,
    };
    if (granted) return { headers, rejection: undefined };
    const message = `The rate limit of this token is reached, expected at most ` +
      `${requests} requests in ${windowSeconds} s`;
    return { headers, rejection: reject(message, nextSeconds) };
  }

  function countInvalidToken(peer: string | undefined): ApiError | undefined {
    if (peer === undefined) return undefined;
    const { granted, nextSeconds } = peers.draw(networkOf(peer));
    if (granted) return undefined;
    return reject("Authorization: too many invalid API tokens from this address", nextSeconds);
  }

  return { countRequest, countInvalidToken, close: async () => await shared?.close() };
}

/** Opens the limits of the configuration; undefined when there are none. @see R21, M21 */
export function openConfiguredRateLimits(
  { rateLimit, rateLimitScope, databaseUrl }: Config,
  { database, observe }: { readonly database: Database; readonly observe: Observe },
): RateLimits | undefined {
  if (rateLimit === undefined) return undefined;
  // The embedded Postgres serves only this process.
  const isShared = rateLimitScope === "instances" && databaseUrl !== undefined;
  const leases = isShared ? openRateLeases(database, rateLimit) : undefined;
  return openRateLimits(rateLimit, { leases, observe });
}

function reject(message: string, seconds: number): ApiError {
  return new ApiError(429, `${message}, try again in ${seconds} s`, {
    headers: { "Retry-After": String(seconds) },
  });
}

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Returns the key by which an address is limited: an IPv4 address itself, also when it is written as
 * IPv6; the network of 64 bits of an IPv6 address, since one customer commonly has all of it.
 */
export function networkOf(address: string): string {
  const plain = address.toLowerCase().split("%", 1)[0]!;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  if (mapped !== null) return mapped[1]!;
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const left = splitGroups(head);
  const right = splitGroups(tail ?? "");
  const zeros = new Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill("0");
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

function splitGroups(text: string): readonly string[] {
  return text === "" ? [] : text.split(":");
}
