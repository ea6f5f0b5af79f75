/** Longest time that other requests wait while documents are read. */
const SLICE_MS = 5;

/** Work that is done step by step. */
interface Work {
  /** True once nothing is left to do. */
  readonly step: () => boolean;
  readonly sliceMs: number;
}

/** Work that waits for its next step, from all requests of the process. */
const queue: Work[] = [];
let running = false;

/** Reports whether any work is being done in slices. */
export function isSlicing(): boolean {
  return running;
}

/**
 * Takes steps until one returns a result. All such work shares 5 ms in each tick of the event loop,
 * and takes steps in turn. Then other requests are served.
 * @see docs/decisions/0007-bodies.md
 */
export function runInSlices<T>(
  step: () => T | undefined,
  { sliceMs = SLICE_MS }: { readonly sliceMs?: number | undefined } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    queue.push({
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
  const end = performance.now() + queue[0]!.sliceMs;
  do {
    const work = queue.shift()!;
    if (!work.step()) queue.push(work);
  } while (queue.length > 0 && performance.now() < end);
  running = queue.length > 0;
  if (running) scheduleSlice();
}
