import type { Output } from "../runtime/host.ts";
import { openProgress } from "./progress.ts";

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
