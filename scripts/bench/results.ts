import { describeMachine, type Options } from "./options.ts";
import type { Measured } from "./rounds.ts";

/** What a run measures, without its cells. */
type Setting = Omit<Measured, "cells" | "when">;

/** What may not differ between the pieces of one run. */
const SAME = ["machine", "postgres", "rounds", "seconds", "concurrency", "seed"] as const;

/**
 * Begins the results of a run, or goes on with those of an earlier piece of it.
 * @throws {Error} when the earlier piece was measured in another way
 */
export function beginResults(
  options: Pick<Options, "rounds" | "seconds" | "concurrency" | "seed">,
  { postgres, before }: { readonly postgres: string; readonly before: string | undefined },
): Measured {
  const { rounds, seconds, concurrency } = options;
  const earlier = before === undefined ? undefined : JSON.parse(before) as Measured;
  const seed = options.seed ?? earlier?.seed ?? chooseSeed();
  const own: Setting = { machine: describeMachine(), postgres, rounds, seconds, concurrency, seed };
  if (earlier === undefined) {
    return { when: new Date().toISOString().slice(0, 10), ...own, cells: [] };
  }
  const different = SAME.filter((name) => String(own[name]) !== String(earlier[name]));
  if (different.length === 0) return earlier;
  const names = different.map((name) => `${name} ${earlier[name]}`).join(", ");
  throw new Error(`--resume: the results are of a run with ${names}`);
}

/** Short enough to be typed. */
function chooseSeed(): number {
  const [seed] = crypto.getRandomValues(new Uint16Array(1));
  return 1 + seed!;
}
