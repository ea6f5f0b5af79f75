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
  /** Called before that, once it has taken longer than a moment: 50 to 100 ms. */
  readonly slow?: () => void;
}

/**
 * Starts a deadline, and gives what ends it. A request has three, and nearly none of them is ever
 * reached: so the runtime's timer, which costs more than the rest of a wait, is made for those alone
 * that take longer than a moment, and one timer looks after all others.
 */
export function startDeadline({ ms, late, slow }: Deadline): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (ms < SHORT_MS) {
    timer = setTimeout(late, ms);
    slow?.();
    return () => clearTimeout(timer);
  }
  let ended = false;
  const begin = () => {
    // By another that began in the same turn.
    if (ended) return;
    timer = setTimeout(late, ms - MOMENT_MS);
    slow?.();
  };
  young.add(begin);
  if (!turning) turnSoon();
  return () => {
    ended = true;
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
