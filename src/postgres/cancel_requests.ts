import type { DriverSocket } from "./driver.ts";

/** What a backend is cancelled by; null where Postgres sent none. */
export interface BackendKey {
  readonly pid: number | null;
  readonly secret: number | null;
}

/** The cancel requests of a session. */
export interface Cancels {
  /** Sends one, unless Postgres gave no key. */
  readonly send: () => void;
  /** False once one was sent, until `awaitHandled` has returned true. */
  readonly areHandled: () => boolean;
  /**
   * Waits until Postgres has handled them all. Returns false if that is unknown: a request was not
   * answered, or a pooler may pass it on later.
   */
  readonly awaitHandled: () => Promise<boolean>;
}

/** How cancel requests are sent. */
export interface CancelOptions {
  readonly openSocket: (signal: AbortSignal) => Promise<DriverSocket>;
  /** False behind a pooler. */
  readonly isIdentified: boolean;
}

const CANCEL_MS = 2000;
const CANCEL_CODE = 80877102;

/** Makes the cancel requests of a session. */
export function openCancels(
  key: BackendKey,
  { openSocket, isIdentified }: CancelOptions,
): Cancels {
  /** Whether all so far were handled; undefined if there was none. */
  let handled: Promise<boolean> | undefined;

  function send(): void {
    if (key.pid === null || key.secret === null) return;
    const all = [handled ?? true, sendCancel(key, openSocket)];
    handled = Promise.all(all).then((each) => each.every(Boolean));
  }

  async function awaitHandled(): Promise<boolean> {
    if (handled !== undefined && !isIdentified) return false;
    while (handled !== undefined) {
      const awaited = handled;
      if (!await awaited) return false;
      if (awaited === handled) handled = undefined;
    }
    return true;
  }

  return { send, areHandled: () => handled === undefined, awaitHandled };
}

/**
 * Sends a cancel request on a socket of its own, and returns whether Postgres has handled it.
 * Postgres closes the socket without an answer after it has signalled the backend; libpq waits for
 * that too. The socket is not closed from here, because PgBouncer 1.18 fails an assertion if it is
 * half closed.
 */
async function sendCancel(
  { pid, secret }: BackendKey,
  openSocket: CancelOptions["openSocket"],
): Promise<boolean> {
  const message = new DataView(new ArrayBuffer(16));
  [16, CANCEL_CODE, pid!, secret!].forEach((value, index) => message.setInt32(index * 4, value));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), CANCEL_MS);
  try {
    const socket = await openSocket(controller.signal);
    return await new Promise<boolean>((resolve) => {
      socket.on("error", () => resolve(false));
      socket.on("close", () => resolve(!controller.signal.aborted));
      // A socket without a reader does not notice that its peer has closed it.
      socket.on("data", () => {});
      socket.write(new Uint8Array(message.buffer));
    });
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
