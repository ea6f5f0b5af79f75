import { useState } from "preact/hooks";

/** Whether a step runs, and what runs one unless another does. */
export type OneStep = readonly [
  busy: boolean,
  runOnce: (step: () => Promise<void>) => Promise<void>,
];

/** Runs the steps of an update one at a time; `onBegin` clears what the step before has shown. */
export function useOneStep(onBegin: () => void): OneStep {
  const [busy, setBusy] = useState(false);

  async function runOnce(step: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    onBegin();
    await step();
    setBusy(false);
  }

  return [busy, runOnce];
}
