import type { SoakRun } from "./run_soak.ts";
import type { Sample } from "./take_sample.ts";

/** How far the last quarter may lie above the second; the first is warm-up. */
export interface Bounds {
  /** Growth of memory, as a part of it. */
  readonly memory: number;
  /** Growth of memory that is always allowed: collectors work in steps. */
  readonly memoryMiB: number;
  /** Growth of the descriptors that are no sessions. */
  readonly descriptors: number;
}

/** The hour's: 5 %; a session that is made or cancelled just then has a descriptor and no name yet. */
export const STRICT: Bounds = { memory: 0.05, memoryMiB: 0, descriptors: 2 };

/** Sessions that a service may hold: 10 of its pool, 3 and its own for transactions, 2 that listen. */
const MAX_SESSIONS = 16;

/** A figure's median in the second and in the last quarter. */
interface Compared {
  readonly second: number;
  readonly last: number;
}

/** Compares the quarters, figure by figure. */
export function compareQuarters(
  samples: readonly Sample[],
): Readonly<Record<keyof Sample, Compared>> {
  const quarter = Math.floor(samples.length / 4);
  const compare = (field: keyof Sample): Compared => ({
    second: median(samples.slice(quarter, 2 * quarter).map((sample) => sample[field])),
    last: median(samples.slice(-quarter).map((sample) => sample[field])),
  });
  return {
    rssMiB: compare("rssMiB"),
    descriptors: compare("descriptors"),
    clients: compare("clients"),
    sessions: compare("sessions"),
    backendMiB: compare("backendMiB"),
    livezMs: compare("livezMs"),
  };
}

/** Gives what is wrong with a run; nothing when it was flat and all was answered. */
export function judgeSoak(run: SoakRun, bounds: Bounds): string[] {
  const faults: string[] = [];
  const { rssMiB, backendMiB } = compareQuarters(run.samples);
  for (const [name, { second, last }] of Object.entries({ rssMiB, backendMiB })) {
    const most = second * (1 + bounds.memory) + bounds.memoryMiB;
    if (last > most) faults.push(`${name} grew from ${second.toFixed(1)} to ${last.toFixed(1)}`);
  }
  // Connections come and go with each cancelled statement; what leaks raises the least of them.
  const [second, last] = [1, 3].map((quarter) =>
    findLeast(run.samples, quarter, ({ descriptors, sessions }) => descriptors - sessions)
  );
  if (last! > second! + bounds.descriptors) {
    faults.push(`descriptors beside the sessions grew from ${second} to ${last}`);
  }
  const sessions = findLeast(run.samples, 3, (sample) => sample.sessions);
  if (sessions > MAX_SESSIONS) faults.push(`${sessions} sessions, of ${MAX_SESSIONS} at most`);
  if (run.last.clients > 1) faults.push(`${run.last.clients} connections of clients are left`);
  if (run.hung > 0) faults.push(`${run.hung} requests hung`);
  for (const [key, count] of run.answers) {
    if (!ALLOWED.test(key)) faults.push(`${key}: ${count}`);
  }
  return faults;
}

/** What each kind of request may be answered with; under a fair load nothing else. */
const ALLOWED =
  /^(query 200|(single|lane) (200|404)|bulk 200|refused 40[034]|bogus token 401|client gone (gone|200)|get 200)$/;

function findLeast(
  samples: readonly Sample[],
  quarter: number,
  count: (sample: Sample) => number,
): number {
  const length = Math.floor(samples.length / 4);
  const part = samples.slice(quarter * length, (quarter + 1) * length);
  return Math.min(...part.map(count));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
