import type { Config } from "../config/config.ts";
import type { Observe } from "../telemetry/observe.ts";
import { planConnection } from "./connection.ts";
import type { Database } from "./database.ts";
import { type Fence, openFence, type ServerIdentity } from "./fence.ts";
import type { PoolerMode } from "./pooler.ts";
import { type FoundServer, ServerWatch } from "./server_watch.ts";
import { createSessionOpener } from "./session_opener.ts";

/** The primary that a database writes to, and whether a standby is used in its place. */
export interface FollowedPrimary extends NonNullable<Database["primary"]> {
  /** Checks the server of a session that is being opened; returns a code if it must not be used. */
  readonly refuse: Fence["refuse"];
  /** Called if a session of a standby was opened because no primary was found. */
  readonly onStandIn: () => void;
  /** Settles when all hosts have been looked at once; no session is opened before. */
  readonly ready: () => Promise<void>;
  readonly close: () => void;
}

/** How the primary is looked for, and what learns of another one. */
export interface FollowPrimaryOptions {
  /** True if all hosts of `DATABASE_URL` are used: not on the embedded Postgres or one standby. */
  readonly followsHosts: boolean;
  readonly mode: PoolerMode;
  /** True if a primary may turn up among the hosts while a standby is used. */
  readonly mayStandIn: boolean;
  readonly observe: Observe;
  /** Called before the first session of another primary is used: older sessions must not be. */
  readonly onNewPrimary: () => void;
}

/**
 * Follows the primary of a database. While none is found, a standby may be used in its place, until
 * there is a primary.
 * @see M4, M5, M6, M32
 */
export function followPrimary(
  config: Config,
  { followsHosts, mode, mayStandIn, observe, onNewPrimary }: FollowPrimaryOptions,
): FollowedPrimary {
  const fence = openFence({ observe, onNewTimeline: onNewPrimary });
  const plan = followsHosts ? planConnection(config.databaseUrl ?? "") : undefined;
  const wantsPrimary = plan !== undefined && WRITING_ROLES.has(plan.role);
  const watch = new ServerWatch({
    addresses: wantsPrimary ? plan.addresses : [],
    open: (only, meet) => createSessionOpener(config, { only, refuse: meet, mode })(),
    learn,
  });
  let standsIn = false;
  let rivals = "";

  function learn(servers: readonly FoundServer[]): void {
    const primaries = fence.learn(servers);
    if (primaries.length > 0) leaveStandby();
    warnOfRivals(primaries);
  }

  function refuse(server: ServerIdentity): string | undefined {
    const refusal = fence.refuse(server);
    if (refusal === undefined && server.timeline !== undefined) leaveStandby();
    return refusal;
  }

  function leaveStandby(): void {
    if (!standsIn) return;
    standsIn = false;
    watch.relax();
    onNewPrimary();
  }

  function onStandIn(): void {
    standsIn = true;
    if (mayStandIn) watch.hurry();
  }

  /** Two servers that were promoted from one timeline cannot be told apart by their timelines. */
  function warnOfRivals(primaries: readonly FoundServer[]): void {
    // The same server may be there under two names.
    const servers = new Map(primaries.map((server) => [server.started, server.name]));
    const names = servers.size > 1 ? [...servers.values()].join(" and ") : "";
    if (names !== "" && names !== rivals) {
      const message = `${names} of DATABASE_URL both accept writes on timeline ` +
        `${fence.timeline()}; the first is used, stop the one that is not the primary`;
      observe({ kind: "warning", message });
    }
    rivals = names;
  }

  const { timeline, see } = fence;
  return {
    ...{ timeline, see, refuse, onStandIn },
    isServing: () => !standsIn,
    ready: () => watch.ready(),
    close: () => watch.close(),
  };
}

/** The roles of `target_session_attrs` that a primary has. */
const WRITING_ROLES: ReadonlySet<string> = new Set(["any", "primary", "read-write"]);
