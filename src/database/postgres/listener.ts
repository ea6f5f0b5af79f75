import type { Circuit } from "./circuit.ts";
import { PAUSE_MS } from "./circuit.ts";
import { classify } from "./database_error.ts";
import type { Session } from "./session.ts";
import type { OpenSession } from "./session_opener.ts";

/** Time until a server that rejected `listen` is asked again, on the same session. */
const ASK_AGAIN_MS = 5000;

/** Takes the payload of a notification, or "" when some may have been missed. */
type Notified = (payload: string) => void;

/** Receives notifications until it is closed: one session for each channel. */
export class Listeners {
  readonly #open: OpenSession;
  readonly #circuit: Circuit;
  readonly #channels = new Map<string, Listener>();

  constructor(open: OpenSession, circuit: Circuit) {
    this.#open = open;
    this.#circuit = circuit;
  }

  /**
   * Calls back on each notification of a channel, and if some may have been missed. Resolves when it
   * listens, or after the first failure.
   */
  async listen(channel: string, notified: Notified): Promise<void> {
    let listener = this.#channels.get(channel);
    if (listener === undefined) {
      listener = new Listener(channel, this.#open, this.#circuit);
      this.#channels.set(channel, listener);
    }
    await listener.add(notified);
  }

  /** Replaces the sessions, which may be on a server that no longer sends anything. */
  renew(): void {
    for (const listener of this.#channels.values()) listener.renew();
  }

  close(): void {
    for (const listener of this.#channels.values()) listener.close();
  }
}

/**
 * Listens on one channel. It is **connecting**, **listening**, **asking again** on a session whose
 * server rejected `listen`, **pausing** before it connects again, or **closed**. When it listens
 * again it says so, since notifications may have been missed.
 */
class Listener {
  readonly #channel: string;
  readonly #open: OpenSession;
  readonly #circuit: Circuit;
  readonly #callbacks: Notified[] = [];
  #begun: Promise<void> | undefined;
  #session: Session | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasMissed = false;
  #isClosed = false;

  constructor(channel: string, open: OpenSession, circuit: Circuit) {
    this.#channel = channel;
    this.#open = open;
    this.#circuit = circuit;
  }

  async add(notified: Notified): Promise<void> {
    this.#callbacks.push(notified);
    await (this.#begun ??= this.#connect());
  }

  renew(): void {
    if (this.#session !== undefined) this.#again();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#session?.close();
  }

  #notify(payload: string): void {
    for (const notified of this.#callbacks) notified(payload);
  }

  #again(): void {
    this.#hasMissed = true;
    this.#session?.destroy();
    this.#session = undefined;
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#connect(), PAUSE_MS);
  }

  async #connect(): Promise<void> {
    if (!this.#circuit.mayAttempt()) return this.#again();
    const opened = await this.#open((heard, payload) => {
      if (heard === this.#channel) this.#notify(payload);
    });
    if ("kind" in opened) {
      this.#circuit.failed(opened);
      return this.#again();
    }
    this.#circuit.succeeded();
    this.#session = opened;
    if (this.#isClosed) return opened.close();
    opened.watch(() => this.#again());
    await this.#begin(opened);
  }

  /**
   * Starts to listen. A standby rejects that; its session is kept, because it may become the primary.
   */
  async #begin(session: Session): Promise<void> {
    try {
      await session.sql`listen ${session.sql(this.#channel)}`;
    } catch (error) {
      if (classify(error).endsSession || !session.isOpen()) return this.#again();
      this.#hasMissed = true;
      this.#timer = setTimeout(() => this.#begin(session), ASK_AGAIN_MS);
      return;
    }
    if (this.#hasMissed) this.#notify("");
    this.#hasMissed = false;
  }
}
