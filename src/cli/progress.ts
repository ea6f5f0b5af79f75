import { blankControls } from "../text/redact.ts";
import type { Output } from "../runtime/host.ts";

/** One line that says what is going on. */
export interface Progress {
  readonly show: (text: string) => void;
  readonly clear: () => void;
}

const WIDTH = 78;

/**
 * Shows progress: on a terminal in one line that is written over, elsewhere as lines, one each ten
 * seconds at most.
 */
export function openProgress(
  output: Output,
  now: () => number = () => performance.now(),
): Progress {
  const everyMs = output.isTerminal ? 100 : 10_000;
  let shownMs = now();
  let shown = false;

  function show(text: string): void {
    if (now() - shownMs < everyMs) return;
    shownMs = now();
    const line = blankControls(text).slice(0, WIDTH);
    output.write(output.isTerminal ? `\r\x1b[2K${line}` : `${line}\n`);
    shown = true;
  }

  function clear(): void {
    if (shown && output.isTerminal) output.write("\r\x1b[2K");
    shown = false;
  }

  return { show, clear };
}

/** Says what comes next in a long work. */
export type Tell = (doing: string) => void;

const SILENT_MS = 1000;
const TICK_MS = 200;

/** Shows that a work of more than a second goes on, what it does and for how long already. */
export async function showWork<T>(
  output: Output,
  what: string,
  work: (tell: Tell) => Promise<T>,
): Promise<T> {
  const progress = openProgress(output);
  const started = performance.now();
  let doing = "";

  function show(): void {
    const ms = performance.now() - started;
    if (ms >= SILENT_MS) progress.show(`${what}${doing}, ${Math.floor(ms / 1000)} s`);
  }

  const timer = setInterval(show, TICK_MS);
  try {
    return await work((next) => {
      doing = `: ${next}`;
      // The embedded Postgres works in this thread, where no timer strikes meanwhile.
      show();
    });
  } finally {
    clearInterval(timer);
    progress.clear();
  }
}
