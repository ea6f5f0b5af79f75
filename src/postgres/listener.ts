import type { Session } from "./session.ts";
import type { Circuit } from "./circuit.ts";
import { PAUSE_MS } from "./circuit.ts";
import type { Failure } from "./database_error.ts";
import { classify } from "./database_error.ts";
import type { OnNotify } from "./driver.ts";

/** Time until a server that rejected `listen` is asked again, on the same session. */
const ASK_AGAIN_MS = 5000;

interface ListenerOptions {
  readonly channel: string;
  readonly notified: Notified;
  readonly open: (notified: OnNotify) => Promise<Session | Failure>;
  readonly circuit: Circuit;
}

interface Listener {
  readonly renew: () => void;
  readonly close: () => void;
}

/** Takes the payload of a notification, or "" when some may have been missed. */
type Notified = (payload: string) => void;

/** Receives notifications until it is closed. */
export interface Listeners {
  /** Calls back on each notification of a channel, and if some may have been missed. */
  readonly listen: (channel: string, notified: Notified) => Promise<void>;
  /** Replaces the sessions, which may be on a server that no longer sends anything. */
  readonly renew: () => void;
  readonly close: () => void;
}

/** Makes listeners: one session for each channel. */
export function openListeners(open: ListenerOptions["open"], circuit: Circuit): Listeners {
  const channels = new Map<string, { callbacks: Notified[]; listener: Promise<Listener> }>();

  async function listen(channel: string, notified: Notified): Promise<void> {
    const known = channels.get(channel);
    if (known !== undefined) {
      known.callbacks.push(notified);
      await known.listener;
      return;
    }
    const callbacks = [notified];
    const notifyAll: Notified = (payload) => callbacks.forEach((callback) => callback(payload));
    const listener = openListener({ channel, notified: notifyAll, open, circuit });
    channels.set(channel, { callbacks, listener });
    await listener;
  }

  function forAll(act: (listener: Listener) => void): void {
    for (const { listener } of channels.values()) void listener.then(act);
  }

  return {
    listen,
    renew: () => forAll((listener) => listener.renew()),
    close: () => forAll((listener) => listener.close()),
  };
}

/**
 * Opens a listener on a channel; resolves when it listens, or after the first failure. It reconnects
 * until it is closed, and calls `notified` when it listens again, since notifications may have been
 * missed.
 */
async function openListener(options: ListenerOptions): Promise<Listener> {
  const { channel, notified, open, circuit } = options;
  let missed = false;
  let closed = false;
  let session: Session | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function again(): void {
    missed = true;
    session?.destroy();
    session = undefined;
    clearTimeout(timer);
    if (!closed) timer = setTimeout(listen, PAUSE_MS);
  }

  async function listen(): Promise<void> {
    if (!circuit.mayAttempt()) return again();
    const result = await open((heard, payload) => {
      if (heard === channel) notified(payload);
    });
    if ("kind" in result) {
      circuit.failed(result);
      return again();
    }
    circuit.succeeded();
    session = result;
    if (closed) return session.close();
    session.watch(again);
    await begin(result);
  }

  /**
   * Starts to listen. A standby rejects that; its session is kept, because it may become the primary.
   */
  async function begin(session: Session): Promise<void> {
    try {
      await session.sql`listen ${session.sql(channel)}`;
    } catch (error) {
      if (classify(error).endsSession || !session.isOpen()) return again();
      missed = true;
      timer = setTimeout(() => begin(session), ASK_AGAIN_MS);
      return;
    }
    if (missed) notified("");
    missed = false;
  }

  await listen();
  return {
    renew() {
      if (session !== undefined) again();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      session?.close();
    },
  };
}
