import type { Config } from "../config/config.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Database } from "./database.ts";
import { type Fence, openFence, type ServerIdentity } from "./fence.ts";
import type { PoolerMode } from "./pooler_mode.ts";
import { seekPrimary } from "./seek_primary.ts";
import { createSessionOpener, type EmbeddedServer } from "./session_opener.ts";

/** The primary that a database writes to, and whether a standby is used in its place. */
export interface FollowedPrimary extends NonNullable<Database["primary"]> {
  /** Checks the server of a session that is being opened; returns a code if it must not be used. */
  readonly refuse: Fence["refuse"];
  /** Called if a session of a standby was opened because no primary was found. */
  readonly onStandIn: () => void;
  readonly close: () => void;
}

/** How the primary is looked for, and what learns of another one. */
export interface FollowPrimaryOptions {
  readonly embedded: EmbeddedServer | undefined;
  readonly mode: PoolerMode;
  /** True if a primary may turn up among the hosts while a standby is used. */
  readonly mayStandIn: boolean;
  readonly observe: Observe;
  /** Called before the first session of another primary is used: older sessions must not be. */
  readonly onNewPrimary: () => void;
}

/**
 * Follows the primary of a database. While none is found, a standby may be used in its place; then it
 * looks for a primary until there is one.
 * @see M4, M5, M6
 */
export function followPrimary(
  config: Config,
  { embedded, mode, mayStandIn, observe, onNewPrimary }: FollowPrimaryOptions,
): FollowedPrimary {
  const { timeline, see, ...fence } = openFence({ observe, onNewTimeline: onNewPrimary });
  const seeker = seekPrimary({
    open: createSessionOpener(config, { embedded, refuse, mode, role: "primary" }),
  });
  let standsIn = false;

  function refuse(server: ServerIdentity): string | undefined {
    const refusal = fence.refuse(server);
    if (refusal !== undefined || !standsIn || server.timeline === undefined) return refusal;
    standsIn = false;
    onNewPrimary();
    return undefined;
  }

  function onStandIn(): void {
    standsIn = true;
    if (mayStandIn) seeker.start();
  }

  return { timeline, see, isServing: () => !standsIn, refuse, onStandIn, close: seeker.close };
}
