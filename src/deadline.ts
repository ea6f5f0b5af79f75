/** Most of what is waited for is there within this time, in milliseconds. */
const MOMENT_MS = 50;
/** Shorter deadlines get a timer at once. */
const SHORT_MS = 200;

/** What begins once something has taken longer than a moment: of this turn, and of the one before. */
let young = new Set<() => void>();
let old = new Set<() => void>();
let turning = false;

/** What becomes of a wait that is not over in time. */
export interface Deadline {
  readonly ms: number;
  /** Called after `ms`, or up to 50 ms later. */
  readonly late: () => void;
  /** Who waits; looked at once it has taken longer than a moment, 50 to 100 ms. */
  readonly client?: { readonly signal: AbortSignal } | undefined;
  /** Called when nobody waits any more; never before the deadline's start has returned. */
  readonly gone?: () => void;
}

/**
 * Starts a deadline, and gives what ends it. A request has three, and nearly none of them is ever
 * reached: so the runtime's timer, which costs more than the rest of a wait, is made for those alone
 * that take longer than a moment, and one timer looks after all others.
 */
export function startDeadline({ ms, late, client, gone = late }: Deadline): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let signal: AbortSignal | undefined;
  let ended = false;
  const look = () => {
    if (ended) return;
    signal = client?.signal;
    if (signal?.aborted) gone();
    else signal?.addEventListener("abort", gone);
  };
  const begin = () => {
    // By another that began in the same turn.
    if (ended) return;
    timer = setTimeout(late, ms - MOMENT_MS);
    look();
  };
  if (ms < SHORT_MS) {
    timer = setTimeout(late, ms);
    queueMicrotask(look);
  } else {
    young.add(begin);
    if (!turning) turnSoon();
  }
  return () => {
    ended = true;
    signal?.removeEventListener("abort", gone);
    if (timer !== undefined) clearTimeout(timer);
    else if (!young.delete(begin)) old.delete(begin);
  };
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
  for (const begin of due) begin();
}
