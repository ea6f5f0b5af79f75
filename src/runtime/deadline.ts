/** Most of what is waited for is there within this time, in milliseconds. */
const MOMENT_MS = 100;
/** Shorter deadlines get a timer at once. */
const SHORT_MS = 400;

/** What has neither ended nor a timer: what began in this turn, and in the one before. */
let young = new Set<Wait>();
let old = new Set<Wait>();
let turning = false;

/** What becomes of a wait that is not over in time. */
export interface Deadline {
  readonly ms: number;
  /** Called after `ms`, or up to 100 ms later. */
  readonly late: () => void;
  /** Who waits; looked at once it has taken longer than a moment, 100 to 200 ms. */
  readonly client?: { readonly signal: AbortSignal } | undefined;
  /** Called when nobody waits any more; never before the deadline's start has returned. */
  readonly gone?: () => void;
}

/** A deadline on its way; holds nothing once it has ended. */
interface Wait {
  deadline: Deadline | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The client's, once it is listened to. */
  signal: AbortSignal | undefined;
}

/**
 * Starts a deadline, and gives what ends it. A request has three, and nearly none of them is ever
 * reached: so the runtime's timer, which costs more than the rest of a wait, is made for those alone
 * that take longer than a moment, and one timer looks after all others.
 */
export function startDeadline(deadline: Deadline): () => void {
  const wait: Wait = { deadline, timer: undefined, signal: undefined };
  const { ms, late } = deadline;
  if (ms < SHORT_MS) {
    wait.timer = setTimeout(late, ms);
    queueMicrotask(() => look(wait));
  } else {
    young.add(wait);
    if (!turning) turnSoon();
  }
  return () => end(wait);
}

function look(wait: Wait): void {
  if (wait.deadline === undefined) return;
  const { client, late, gone = late } = wait.deadline;
  wait.signal = client?.signal;
  if (wait.signal?.aborted) gone();
  else wait.signal?.addEventListener("abort", gone);
}

/**
 * A table that a set has grown out of keeps what stood in it until V8 looks through the whole heap, so
 * nothing hangs on a wait that has ended.
 * @see docs/decisions/0035-answers-are-released.md
 */
function end(wait: Wait): void {
  const { deadline, signal, timer } = wait;
  if (deadline === undefined) return;
  wait.deadline = undefined;
  const { late, gone = late } = deadline;
  signal?.removeEventListener("abort", gone);
  wait.timer = wait.signal = undefined;
  if (timer !== undefined) clearTimeout(timer);
  else if (!young.delete(wait)) old.delete(wait);
}

function begin(wait: Wait): void {
  // By another that began in the same turn.
  if (wait.deadline === undefined) return;
  const { ms, late } = wait.deadline;
  wait.timer = setTimeout(late, ms - MOMENT_MS);
  look(wait);
}

function turnSoon(): void {
  turning = true;
  setTimeout(turn, MOMENT_MS);
}

function turn(): void {
  const due = old;
  old = young;
  young = new Set();
  turning = false;
  if (old.size > 0) turnSoon();
  due.forEach(begin);
}
