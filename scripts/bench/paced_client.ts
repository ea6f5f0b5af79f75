import type { Ask, Contender } from "./contender.ts";

/** Requests that are sent at a rate, whatever becomes of them. */
export interface Flow {
  /** Sends no more, waits for what runs, and gives how many were sent. */
  readonly stop: () => Promise<number>;
}

/** How many a second, and the number of the first. */
export interface FlowOptions {
  readonly rate: number;
  readonly from: number;
}

/** How often it is looked at how many requests are due. */
const TICK_MS = 10;

/**
 * Sends requests at a rate, beside a load that is measured. Refused ones count as well as others: a
 * client that floods a service is not stopped by it.
 */
export function startFlow(
  { address }: Pick<Contender, "address">,
  ask: (number: number) => Ask,
  { rate, from }: FlowOptions,
): Flow {
  const started = performance.now();
  const running = new Set<Promise<unknown>>();
  let sent = 0;

  async function send(): Promise<void> {
    const { path, body, ...rest } = ask(from + sent++);
    const response = await fetch(`${address}${path}`, body === "" ? rest : { ...rest, body });
    await response.arrayBuffer();
  }

  const timer = setInterval(() => {
    for (const due = (performance.now() - started) / 1000 * rate; sent < due;) {
      const sending: Promise<unknown> = send().catch(() => {}).finally(() =>
        running.delete(sending)
      );
      running.add(sending);
    }
  }, TICK_MS);

  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(running);
      return sent;
    },
  };
}
