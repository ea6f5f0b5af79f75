import type { Config } from "../../server/config/config.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { type Address, nameAddress, planConnection } from "./connection.ts";
import type { Failure } from "./database_error.ts";
import { type Fence, openFence } from "./fence.ts";
import type { ServerIdentity } from "./opening_statement.ts";
import type { PoolerMode } from "./pooler.ts";
import type { Session } from "./session.ts";
import { createSessionOpener } from "./session_opener.ts";

/** A server that has answered. */
export interface FoundServer extends ServerIdentity {
  /** Its host and port. */
  readonly name: string;
}

/** Opens a session on one host, which passes what its server says of itself to `meet`. */
export type OpenOnAddress = (
  address: Address,
  meet: (server: ServerIdentity) => undefined,
) => Promise<Session | Failure>;

/** What a watch looks at. */
export interface ServerWatchOptions {
  /** The hosts of the URL. One alone is not watched. */
  readonly addresses: readonly Address[];
  readonly open: OpenOnAddress;
  /** Takes the servers that have answered, in the order of the hosts. */
  readonly learn: (servers: readonly FoundServer[]) => void;
}

/** Time between two looks at all hosts, in milliseconds. */
const PAUSE_MS = 5000;
/** The same while a standby is used because no primary was found. */
const HURRIED_MS = 1000;

/**
 * Looks at all hosts of a URL: before the first session is used, and from then on every five seconds.
 * After a failover the old primary may still accept writes, and it may be the first host. Only the
 * others know that it was replaced.
 *
 * It has three states: new, until it is first asked whether it is ready; looking or resting, with one
 * timer between two looks; and closed.
 * @see M4, M6, M32
 */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  #firstLook: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLooking = false;
  #isHurried = false;
  #isClosed = false;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** Settles when each host has answered once, or failed to within the time of an attempt. */
  ready(): Promise<void> {
    if (this.#options.addresses.length < 2) return Promise.resolve();
    return this.#firstLook ??= this.#look();
  }

  /** Looks every second until {@link relax} is called. */
  hurry(): void {
    if (this.#isHurried || this.#firstLook === undefined) return;
    this.#isHurried = true;
    if (!this.#isLooking) this.#rest();
  }

  relax(): void {
    this.#isHurried = false;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const { addresses, learn } = this.#options;
    const found = await Promise.all(addresses.map((address) => this.#ask(address)));
    this.#isLooking = false;
    if (this.#isClosed) return;
    learn(found.filter((server) => server !== undefined));
    this.#rest();
  }

  async #ask(address: Address): Promise<FoundServer | undefined> {
    let met: ServerIdentity | undefined;
    const session = await this.#options.open(address, (server) => {
      met = server;
      return undefined;
    });
    if ("kind" in session) return undefined;
    session.close();
    return met && { ...met, name: nameAddress(address) };
  }

  #rest(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#look(), this.#isHurried ? HURRIED_MS : PAUSE_MS);
  }
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
 * Follows the primary of a database. A database **has its primary**; or, while none is found, **a
 * standby stands in** for it until there is a primary.
 * @see M4, M5, M6, M32
 */
export class Primary {
  readonly #options: FollowPrimaryOptions;
  readonly #fence: Fence;
  readonly #watch: ServerWatch;
  #standsIn = false;
  #rivals = "";

  constructor(config: Config, options: FollowPrimaryOptions) {
    const { followsHosts, mode, observe, onNewPrimary } = options;
    this.#options = options;
    this.#fence = openFence({ observe, onNewTimeline: onNewPrimary });
    const plan = followsHosts ? planConnection(config.databaseUrl ?? "") : undefined;
    const wantsPrimary = plan !== undefined && WRITING_ROLES.has(plan.role);
    this.#watch = new ServerWatch({
      addresses: wantsPrimary ? plan.addresses : [],
      open: (only, meet) => createSessionOpener(config, { only, refuse: meet, mode })(),
      learn: (servers) => this.#learn(servers),
    });
  }

  /** The newest timeline that was seen; undefined before the first. */
  timeline(): number | undefined {
    return this.#fence.timeline();
  }

  /** Adds a timeline that another instance has seen. */
  see(timeline: number): void {
    this.#fence.see(timeline);
  }

  /** Reports whether no standby is used in its place. */
  isServing(): boolean {
    return !this.#standsIn;
  }

  /** Settles when all hosts have been looked at once; no session is opened before. */
  ready(): Promise<void> {
    return this.#watch.ready();
  }

  /** Checks the server of a session that is being opened; returns a code if it must not be used. */
  refuse(server: ServerIdentity): string | undefined {
    const refusal = this.#fence.refuse(server);
    if (refusal === undefined && server.timeline !== undefined) this.#leaveStandby();
    return refusal;
  }

  /** Called if a session of a standby was opened because no primary was found. */
  standIn(): void {
    this.#standsIn = true;
    if (this.#options.mayStandIn) this.#watch.hurry();
  }

  close(): void {
    this.#watch.close();
  }

  #learn(servers: readonly FoundServer[]): void {
    const primaries = this.#fence.learn(servers);
    if (primaries.length > 0) this.#leaveStandby();
    this.#warnOfRivals(primaries);
  }

  #leaveStandby(): void {
    if (!this.#standsIn) return;
    this.#standsIn = false;
    this.#watch.relax();
    this.#options.onNewPrimary();
  }

  /** Of two servers that were promoted from one timeline, the timelines do not show which is older. */
  #warnOfRivals(primaries: readonly FoundServer[]): void {
    // The same server may be there under two names.
    const servers = new Map(primaries.map((server) => [server.started, server.name]));
    const names = servers.size > 1 ? [...servers.values()].join(" and ") : "";
    if (names !== "" && names !== this.#rivals) {
      const message = `${names} of DATABASE_URL both accept writes on timeline ` +
        `${this.timeline()}; the first is used, stop the one that is not the primary`;
      this.#options.observe({ kind: "warning", message });
    }
    this.#rivals = names;
  }
}

/** The roles of `target_session_attrs` that a primary has. */
const WRITING_ROLES: ReadonlySet<string> = new Set(["any", "primary", "read-write"]);
