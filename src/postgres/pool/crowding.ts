import { estimateDistance } from "./distance.ts";

/** Bounds the statements of each tenant while Postgres is crowded. */
export interface Crowding {
  /** Reports whether a tenant that runs so many statements may run one more. */
  readonly allows: (running: number) => boolean;
}

/** The bounds of a tenant's statements, and how crowding is noticed. */
export interface CrowdingOptions {
  /** Statements that a tenant may always run at once. */
  readonly least: number;
  /** Statements that it may run at once as long as nothing is crowded. */
  readonly most: number;
  /** Runs a statement that does nothing; undefined: crowding is not noticed. */
  readonly probe: Probe | undefined;
  /** Tests replace it. */
  readonly wait?: (callback: () => void, ms: number) => unknown;
}

/** Runs a statement that does nothing; returns the milliseconds it took, undefined if it did not run. */
export type Probe = () => Promise<number | undefined>;

/** Milliseconds between two probes. */
const PAUSE_MS = 25;
/** A probe is late if it takes twice as long as at best, and this much more. */
const LATE_MS = 0.5;
/** Statements that are allowed more for a probe in time. A late one takes one away. */
const GROWTH = 0.25;

/**
 * Watches whether Postgres is crowded, by statements that do nothing. While more than a fifth of these
 * probes are late, a tenant that runs many statements takes the processors from the others, and is
 * allowed fewer. Where there are processors enough no probe is late, and nothing is taken away. It
 * probes only while a tenant wants more than the least.
 * @see RE33
 * @see docs/decisions/0030-admission.md
 */
export function watchCrowding(
  { least, most, probe, wait = setTimeout }: CrowdingOptions,
): Crowding {
  const best = estimateDistance();
  let allowed = most;
  let probing = false;

  async function look(probe: Probe): Promise<void> {
    const ms = await probe();
    probing = false;
    if (ms === undefined) return;
    const isLate = ms > 2 * best.ms() + LATE_MS;
    best.took(ms);
    allowed = Math.min(most, Math.max(least, allowed + (isLate ? -1 : GROWTH)));
  }

  return {
    allows(running) {
      if (running < least || probe === undefined) return true;
      if (!probing) wait(() => void look(probe), PAUSE_MS);
      probing = true;
      return running < Math.floor(allowed);
    },
  };
}
