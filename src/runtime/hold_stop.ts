/** Responses that are still being sent and that a server waits for when it stops. */
let held = 0;
let released: (() => void) | undefined;

/** Makes servers of this process that stop wait for a response; gives the function that ends that. */
export function holdStop(): () => void {
  let isHeld = true;
  held++;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    if (--held === 0) released?.();
  };
}

/** Resolves when no response is waited for. */
export function awaitHeld(): Promise<void> {
  return held === 0 ? Promise.resolve() : new Promise((resolve) => released = resolve);
}
