import type { Output } from "../server/runtime/host.ts";
import { blankControls } from "../basics/text/redact.ts";

/** One line that says what is being done. */
export interface Progress {
  readonly show: (text: string) => void;
  readonly clear: () => void;
}

/** Reports the next step of a long piece of work. */
export type Report = (step: string) => void;

const WIDTH = 78;
const SILENT_MS = 1000;
const TICK_MS = 200;

/**
 * Shows progress: on a terminal in one line that is overwritten, elsewhere as lines, at most one
 * every ten seconds.
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

/** Does a piece of work; after a second it shows what is done, the step, and the seconds so far. */
export async function showWork<T>(
  output: Output,
  title: string,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  const progress = openProgress(output);
  const started = performance.now();
  let step = "";

  function show(): void {
    const ms = performance.now() - started;
    if (ms >= SILENT_MS) progress.show(`${title}${step}, ${Math.floor(ms / 1000)} s`);
  }

  const timer = setInterval(show, TICK_MS);
  try {
    return await work((next) => {
      step = `: ${next}`;
      // The embedded Postgres works in this thread, where timers do not fire meanwhile.
      show();
    });
  } finally {
    clearInterval(timer);
    progress.clear();
  }
}
