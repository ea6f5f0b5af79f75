import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { orShowUsage } from "./read_flags.ts";

/** The works that are the same in every run, in the order of the results. @see docs/performance.md */
export const FIXED_WORKS = ["Q1", "Q2", "Q2W", "Q3", "U1", "U2"] as const;
/** One of them. */
export type FixedWork = typeof FIXED_WORKS[number];
/** The works that are drawn for each run: reads and updates. */
export const DRAWN_WORKS = ["DR", "DU"] as const;
/** All works. */
export const WORKS = [...FIXED_WORKS, ...DRAWN_WORKS] as const;
/** One of them. */
export type Work = typeof WORKS[number];

/** Where the service runs. */
export const RUNTIMES = ["deno", "bun", "node"] as const;
/** One of them. */
export type Runtime = typeof RUNTIMES[number];

/** What is measured, and for how long. */
export interface Options {
  readonly works: readonly Work[];
  readonly runtimes: readonly Runtime[];
  /** Clients, each with one request at a time. */
  readonly concurrency: readonly number[];
  readonly rounds: number;
  /** Length of one turn of one contender. */
  readonly seconds: number;
  /** Seconds for which each contender is loaded with each work before the first turn. */
  readonly warm: number;
  /** What the drawn works are drawn from; undefined: a new one. */
  readonly seed: number | undefined;
  /** Folder of the results. */
  readonly output: string;
}

const USAGE = `deno task bench [--brief | --full] [--only=${WORKS.join(",")}]
  [--runtimes=deno,bun,node] [--concurrency=1,16,64] [--rounds=5] [--seconds=4] [--warm=8]
  [--seed=1] [--output=folder]`;

/** How many there are of what is not said, for a rough run, a brief one and a full one. */
const DEFAULTS = {
  rough: { concurrency: [16], rounds: "3", seconds: "1", warm: "1" },
  brief: { concurrency: [1, 16, 64], rounds: "3", seconds: "1", warm: "5" },
  full: { concurrency: [1, 16, 64], rounds: "5", seconds: "4", warm: "8" },
};

/** Reads the command line; ends the process with the usage on `--help` and on what it does not know. */
export function readOptions(parameters: readonly string[]): Options {
  return orShowUsage(USAGE, () => choose(parameters));
}

function choose(parameters: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      brief: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      seed: { type: "string" },
      only: { type: "string" },
      runtimes: { type: "string" },
      concurrency: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      warm: { type: "string" },
      output: { type: "string" },
    },
  });
  const defaults = DEFAULTS[values.full ? "full" : values.brief ? "brief" : "rough"];
  return {
    works: pick(values.only, WORKS),
    runtimes: pick(values.runtimes, RUNTIMES),
    concurrency: values.concurrency?.split(",").map(readNumber) ?? defaults.concurrency,
    rounds: readNumber(values.rounds ?? defaults.rounds),
    seconds: readNumber(values.seconds ?? defaults.seconds),
    warm: readNumber(values.warm ?? defaults.warm),
    seed: values.seed === undefined ? undefined : readNumber(values.seed),
    output: values.output ?? "dist/bench",
  };
}

/** Reads a list of known names; all of them when there is no text. */
export function pick<T extends string>(
  text: string | undefined,
  known: readonly T[],
): readonly T[] {
  const wanted: readonly string[] = text?.split(",") ?? known;
  const strange = wanted.find((name) => !known.some((one) => one === name));
  if (strange !== undefined) throw new Error(`${strange}: expected some of ${known.join(", ")}`);
  return known.filter((name) => wanted.includes(name));
}

function readNumber(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`${text}: expected a number above 0`);
  return number;
}

/** Names the processor, since results of different machines cannot be compared. */
export function describeMachine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? "unknown"}`;
}
