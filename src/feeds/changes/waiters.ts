import { ApiError } from "../../basics/errors/api_error.ts";
import { MAX_WAITING, MAX_WAITING_OF_TOKEN } from "../../basics/errors/limits.ts";
import { type ChangesPlan, tenantInLog } from "../../records/plan/changes_plan.ts";
import type { Client } from "../../database/postgres/database.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { FeedPosition } from "./position.ts";

/** A client that waits until there is something new after a position. */
export interface Wait {
  readonly plan: Pick<ChangesPlan, "table" | "scope">;
  /** A position that had nothing after it. */
  readonly position: FeedPosition;
  /**
   * What the token of the client allows. The wait ends when that changes; undefined: the service itself
   * waits.
   */
  readonly access?: Access | undefined;
  readonly client?: Client | undefined;
  /** When to stop waiting, by `performance.now()`. */
  readonly untilMs: number;
}

/** How a wait ended. */
export type Waited =
  /** There may be something after this position, so read. */
  | { readonly kind: "changed"; readonly position: FeedPosition }
  /** There was nothing, up to this position. */
  | { readonly kind: "idle"; readonly position: FeedPosition }
  /** The token allows something else now; undefined: it has ended. */
  | { readonly kind: "ended"; readonly access: Access | undefined }
  /** The client has disconnected. */
  | { readonly kind: "gone" };

/** A wait that has not ended. */
export interface Waiter extends Wait {
  /** The feed and the tenant, by {@link keyOf}. */
  readonly key: string;
  readonly settle: (waited: Waited) => void;
  readonly fail: (error: unknown) => void;
  /** The position of the log at the last look that found nothing new; undefined: not looked yet. */
  clear: FeedPosition | undefined;
}

/** The clients that wait, and how many a token has. */
export interface Waiters {
  readonly count: () => number;
  readonly all: () => readonly Waiter[];
  /** The tokens of all that wait. */
  readonly tokens: () => readonly string[];
  /**
   * Adds a client, until its wait is settled or it disconnects.
   * @throws {ApiError} 429 the token has too many waits; 503 the service has
   */
  readonly add: (wait: Wait) => Promise<Waited>;
}

/** Opens the list of waiting clients; `counted` is called with their number when it changes. */
export function openWaiters(counted: (waiting: number) => void): Waiters {
  const waiters = new Set<Waiter>();
  const ofToken = new Map<string, number>();

  function add(wait: Wait): Promise<Waited> {
    const { plan, position, access, client } = wait;
    const tokenId = access?.tokenId;
    if (heldBy(tokenId) >= MAX_WAITING_OF_TOKEN) throw rejectWaiting(429, "of this token");
    if (waiters.size >= MAX_WAITING) throw rejectWaiting(503, "already");
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (!waiters.delete(waiter)) return false;
        client?.signal.removeEventListener("abort", gone);
        count(tokenId, -1);
        return true;
      };
      const gone = () => waiter.settle({ kind: "gone" });
      const waiter: Waiter = {
        ...wait,
        key: keyOf(position.feed, tenantInLog(plan.scope)),
        settle: (waited) => leave() && resolve(waited),
        fail: (error) => leave() && reject(error),
        clear: undefined,
      };
      waiters.add(waiter);
      count(tokenId, 1);
      if (client?.signal.aborted) return gone();
      client?.signal.addEventListener("abort", gone);
    });
  }

  function heldBy(tokenId: string | undefined): number {
    return tokenId === undefined ? 0 : ofToken.get(tokenId) ?? 0;
  }

  function count(tokenId: string | undefined, by: 1 | -1): void {
    counted(waiters.size);
    if (tokenId === undefined) return;
    const held = heldBy(tokenId) + by;
    if (held === 0) ofToken.delete(tokenId);
    else ofToken.set(tokenId, held);
  }

  return {
    count: () => waiters.size,
    all: () => [...waiters],
    tokens: () => [...ofToken.keys()],
    add,
  };
}

/** Names a tenant's part of a feed. */
export function keyOf(feed: number, tenant: string): string {
  return `${feed} ${tenant}`;
}

function rejectWaiting(status: 429 | 503, where: string): ApiError {
  const message = `Too many requests ${where} wait for changes, try again in a second`;
  return new ApiError(status, message, { headers: { "Retry-After": "1" } });
}
