/** A task that runs again and again, once at a time. */
export interface Poll {
  /** Runs it now, or once more after the current run. */
  readonly wake: () => void;
  /** Runs it no more; settles when the current run has ended. */
  readonly close: () => Promise<void>;
}

/** Runs a task now, and each time so many milliseconds after its end. The task never rejects. */
export function keepPolling(task: () => Promise<void>, intervalMs: number): Poll {
  let closed = false;
  let running = false;
  let again = false;
  /** The current or last run. */
  let run = Promise.resolve();
  let timer = setTimeout(start, 0);

  function start(): void {
    run = runOnce();
  }

  async function runOnce(): Promise<void> {
    running = true;
    again = false;
    await task();
    running = false;
    if (!closed) timer = setTimeout(start, again ? 0 : intervalMs);
  }

  function wake(): void {
    if (closed) return;
    if (running) {
      again = true;
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(start, 0);
  }

  function close(): Promise<void> {
    closed = true;
    clearTimeout(timer);
    return run;
  }

  return { wake, close };
}
