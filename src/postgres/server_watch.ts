import { type Address, nameAddress } from "./connection.ts";
import type { Failure } from "./database_error.ts";
import type { ServerIdentity } from "./fence.ts";
import type { Session } from "./session.ts";

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
