/** Most waits end within this time, in milliseconds. */
const MOMENT_MS = 100;
/** Shorter deadlines get a timer at once. */
const SHORT_MS = 400;

/** Running waits without a timer: begun since the last sweep, and before it. */
let recent = new Set<Wait>();
let earlier = new Set<Wait>();
let sweeping = false;

/** A deadline of a wait. */
export interface Deadline {
  readonly ms: number;
  /** Called after `ms`, or up to 100 ms later. */
  readonly late: () => void;
  /** The client that waits; its signal is first read after 100 to 200 ms. */
  readonly client?: { readonly signal: AbortSignal } | undefined;
  /** Called when the client disconnects; never before {@link startDeadline} has returned. */
  readonly gone?: () => void;
}

/** A running deadline; it refers to nothing once it has ended. */
interface Wait {
  deadline: Deadline | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The client's signal, once it has a listener. */
  signal: AbortSignal | undefined;
}

/**
 * Starts a deadline, and returns the function that ends it. A request has three, and hardly any is
 * reached. A timer of the runtime costs more than the rest of a wait, so one timer sweeps all waits
 * every 100 ms, and only those that it finds twice get a timer of their own.
 */
export function startDeadline(deadline: Deadline): () => void {
  const wait: Wait = { deadline, timer: undefined, signal: undefined };
  const { ms, late } = deadline;
  if (ms < SHORT_MS) {
    wait.timer = setTimeout(late, ms);
    queueMicrotask(() => listen(wait));
  } else {
    recent.add(wait);
    if (!sweeping) sweepSoon();
  }
  return () => end(wait);
}

function listen(wait: Wait): void {
  if (wait.deadline === undefined) return;
  const { client, late, gone = late } = wait.deadline;
  wait.signal = client?.signal;
  if (wait.signal?.aborted) gone();
  else wait.signal?.addEventListener("abort", gone);
}

/**
 * Memory that a set has grown out of keeps its entries until a full garbage collection, so an ended
 * wait refers to nothing.
 * @see docs/decisions/0035-runtimes.md
 */
function end(wait: Wait): void {
  const { deadline, signal, timer } = wait;
  if (deadline === undefined) return;
  wait.deadline = undefined;
  const { late, gone = late } = deadline;
  signal?.removeEventListener("abort", gone);
  wait.timer = wait.signal = undefined;
  if (timer !== undefined) clearTimeout(timer);
  else if (!recent.delete(wait)) earlier.delete(wait);
}

function startTimer(wait: Wait): void {
  // Another wait of the same sweep has ended it.
  if (wait.deadline === undefined) return;
  const { ms, late } = wait.deadline;
  wait.timer = setTimeout(late, ms - MOMENT_MS);
  listen(wait);
}

function sweepSoon(): void {
  sweeping = true;
  setTimeout(sweep, MOMENT_MS);
}

function sweep(): void {
  const due = earlier;
  earlier = recent;
  recent = new Set();
  sweeping = false;
  if (earlier.size > 0) sweepSoon();
  due.forEach(startTimer);
}

/**
 * Calls back in the next tick of the event loop, after everything that arrived in this one was read.
 * Node, Deno and Bun have `setImmediate`; elsewhere it is the next timer.
 */
export const onNextTick: (callback: () => void) => unknown =
  (globalThis as { setImmediate?: (callback: () => void) => unknown }).setImmediate ??
    ((callback) => setTimeout(callback));
