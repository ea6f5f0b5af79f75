/** Number of responses that a stopping server waits for. */
let held = 0;
let released: (() => void) | undefined;

/**
 * Makes stopping servers of this process wait for a response; returns the function that ends the
 * wait.
 */
export function holdStop(): () => void {
  let isHeld = true;
  held++;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    if (--held === 0) released?.();
  };
}

/** Resolves when no response is left to wait for. */
export function awaitHeld(): Promise<void> {
  return held === 0 ? Promise.resolve() : new Promise((resolve) => released = resolve);
}
