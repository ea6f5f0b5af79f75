import type { ByteBudget } from "./byte_budget.ts";

/** Bytes of a budget that one response holds. */
export interface HeldBytes {
  /**
   * Holds so many bytes in place of those that are held; false: the budget has no more, and what is held
   * stays held.
   */
  readonly hold: (bytes: number) => boolean;
}

/** Opens room in a budget for what a tenant is sent. Nothing may wait for bytes of this budget. */
export function openRoom(budget: ByteBudget, tenant: string): HeldBytes {
  let held = 0;
  let release = () => {};

  function take(bytes: number): (() => void) | undefined {
    return bytes === 0 ? () => {} : budget.take(bytes, tenant);
  }

  function hold(bytes: number): boolean {
    release();
    const taken = take(bytes);
    // What was held before fits again.
    release = taken ?? take(held) ?? (() => {});
    if (taken !== undefined) held = bytes;
    return taken !== undefined;
  }

  return { hold };
}
