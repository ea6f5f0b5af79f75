import { whileWaiting } from "./current_test.ts";

/** Waits until the condition holds; throws when it does not within 30 s. */
export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!await whileWaiting(condition)) {
    if (performance.now() > end) throw new Error("the condition did not hold within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
