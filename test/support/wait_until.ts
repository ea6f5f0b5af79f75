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

/**
 * Waits until the condition holds, which has to be soon: it is looked at so many times at most, each 20
 * ms or more after the one before. That is a time on a quiet machine, and longer on one that is busy.
 */
export async function waitSoon(
  condition: () => boolean | Promise<boolean>,
  mostLooks: number,
): Promise<void> {
  let looks = 0;
  await waitUntil(async () => {
    const holds = await condition();
    if (!holds && ++looks > mostLooks) {
      throw new Error(`the condition did not hold at ${mostLooks} looks: ${condition}`);
    }
    return holds;
  });
}

/** Waits until a promise is settled, which has to be soon, as for {@link waitSoon}. */
export async function settleSoon<T>(promise: Promise<T>, mostLooks: number): Promise<T> {
  let settled = false;
  const done = () => void (settled = true);
  promise.then(done, done);
  await waitSoon(() => settled, mostLooks);
  return await promise;
}
