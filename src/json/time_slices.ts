/** How long others wait at most while documents are read: a tenth of what they may. */
const SLICE_MS = 5;

/** A document that is being read, a step of it at a time. */
interface Reading {
  /** True once nothing is left of it. */
  readonly step: () => boolean;
  readonly sliceMs: number;
}

/** Those that wait for their next step, all documents of the process in one line. */
const line: Reading[] = [];
let running = false;

/** Tells whether documents are being read in turns. */
export function isSlicing(): boolean {
  return running;
}

/**
 * Takes steps until one gives a result. All that is read so shares one budget of time: in each turn
 * of the event loop 5 ms, of which each document gets a step after the other; then others are served.
 * @see docs/decisions/0206-large-bodies-and-slow-readers.md
 */
export function runInSlices<T>(
  step: () => T | undefined,
  { sliceMs = SLICE_MS }: { readonly sliceMs?: number | undefined } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    line.push({
      sliceMs,
      step() {
        try {
          const result = step();
          if (result !== undefined) resolve(result);
          return result !== undefined;
        } catch (error) {
          reject(error);
          return true;
        }
      },
    });
    if (!running) scheduleSlice();
  });
}

function scheduleSlice(): void {
  running = true;
  setTimeout(runSlice, 0);
}

function runSlice(): void {
  const end = performance.now() + line[0]!.sliceMs;
  do {
    const reading = line.shift()!;
    if (!reading.step()) line.push(reading);
  } while (line.length > 0 && performance.now() < end);
  running = line.length > 0;
  if (running) scheduleSlice();
}
