import { currentSignal, whileWaiting } from "./current_test.ts";

/**
 * The one end of all waits. It shows only that a wait ends: a machine that computes for others may take
 * ten times as long as a quiet one.
 */
const END_MS = 120_000;

/**
 * Waits until the condition holds. Throws when it has not done so after two minutes, or when the test
 * has ended meanwhile.
 */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  const signal = currentSignal();
  const end = performance.now() + END_MS;
  while (!await whileWaiting(async () => await condition())) {
    signal.throwIfAborted();
    if (performance.now() > end) {
      throw new Error(`the condition did not hold within ${END_MS / 1000} s: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
