/** Waits; rejects with the signal's reason when that ends it. */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, signal?.aborted ? 0 : seconds * 1000);
    signal?.addEventListener("abort", end);

    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
