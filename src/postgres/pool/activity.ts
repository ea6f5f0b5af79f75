/** How long a tenant counts as active after a statement. */
const ACTIVE_MS = 10_000;

/** When tenants were active. */
export interface Activity {
  /** Notes that a tenant has a statement. */
  readonly entered: (tenant: string) => void;
  /** Reports whether no other tenant was active lately. */
  readonly isAlone: (tenant: string) => boolean;
}

/** Remembers the two tenants that were active last, which is enough to tell whether one is alone. */
export function openActivity(): Activity {
  let last = { name: "", ms: -Infinity };
  let other = last;
  return {
    entered(name: string): void {
      if (name !== last.name) other = last;
      last = { name, ms: performance.now() };
    },
    isAlone(name: string): boolean {
      const { ms } = last.name === name ? other : last;
      return performance.now() - ms > ACTIVE_MS;
    },
  };
}
