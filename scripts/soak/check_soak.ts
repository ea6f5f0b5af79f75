import type { SoakRun } from "./run_soak.ts";
import type { Sample } from "./take_sample.ts";

/** How much the last quarter may exceed the second; the first is warm-up. */
export interface Bounds {
  /** Growth of memory, as a share of it. */
  readonly memory: number;
  /** Growth of memory that is always allowed, since collectors work in steps. */
  readonly memoryMiB: number;
  /** Growth of descriptors other than sessions. */
  readonly descriptors: number;
}

/** For an hour: 5 %. A session that is being opened or cancelled has a descriptor and no name yet. */
export const STRICT: Bounds = { memory: 0.05, memoryMiB: 0, descriptors: 2 };

/** Sessions of a service at most: 10 of its pool, 3 and its own for transactions, 2 that listen. */
const MAX_SESSIONS = 16;

/** The median of a value in the second and in the last quarter. */
interface Compared {
  readonly second: number;
  readonly last: number;
}

/** Compares the quarters, value by value. */
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

/** Returns the problems of a run: growth, missing or unexpected responses. */
export function checkSoak(run: SoakRun, bounds: Bounds): string[] {
  const problems: string[] = [];
  const { rssMiB, backendMiB } = compareQuarters(run.samples);
  for (const [name, { second, last }] of Object.entries({ rssMiB, backendMiB })) {
    const most = second * (1 + bounds.memory) + bounds.memoryMiB;
    if (last > most) problems.push(`${name} grew from ${second.toFixed(1)} to ${last.toFixed(1)}`);
  }
  // Connections come and go with each cancelled statement; a leak raises their minimum.
  const [second, last] = [1, 3].map((quarter) =>
    findLeast(run.samples, quarter, ({ descriptors, sessions }) => descriptors - sessions)
  );
  if (last! > second! + bounds.descriptors) {
    problems.push(`descriptors beside the sessions grew from ${second} to ${last}`);
  }
  const sessions = findLeast(run.samples, 3, (sample) => sample.sessions);
  if (sessions > MAX_SESSIONS) problems.push(`${sessions} sessions, of ${MAX_SESSIONS} at most`);
  if (run.last.clients > 1) problems.push(`${run.last.clients} connections of clients are left`);
  if (run.hung > 0) problems.push(`${run.hung} requests hung`);
  for (const [key, count] of run.responses) {
    if (!ALLOWED.test(key)) problems.push(`${key}: ${count}`);
  }
  return problems;
}

/** The responses that each kind of request may get under this load. */
const ALLOWED =
  /^(query 200|(single|transaction) (200|404)|bulk 200|invalid 40[034]|unknown token 401|disconnect (disconnected|200)|get 200)$/;

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
