import process from "node:process";
import { cpus } from "node:os";
import { parseArgs } from "node:util";

/** The works, in the order of the results. @see docs/performance.md */
export const WORKS = ["Q1", "Q2", "Q2W", "Q3", "U1", "U2"] as const;
/** One of them. */
export type Work = typeof WORKS[number];

/** Where the service runs. */
export const RUNTIMES = ["deno", "bun", "node"] as const;
/** One of them. */
export type Runtime = typeof RUNTIMES[number];

/** What is measured, and for how long. */
export interface Options {
  readonly full: boolean;
  readonly works: readonly Work[];
  readonly runtimes: readonly Runtime[];
  /** Clients, each with one request at a time. */
  readonly concurrency: readonly number[];
  readonly rounds: number;
  /** Length of one turn of one contender. */
  readonly seconds: number;
  /** Seconds for which each contender is loaded with each work before the first turn. */
  readonly warm: number;
  /** Folder of the results. */
  readonly output: string;
}

const USAGE = `deno task bench [--full] [--only=${WORKS.join(",")}] [--runtimes=deno,bun,node]
  [--concurrency=1,16,64] [--rounds=5] [--seconds=4] [--warm=8] [--output=folder]`;

/** Reads the command line; ends the process with the usage on what it does not know. */
export function readOptions(parameters: readonly string[]): Options {
  try {
    return choose(parameters);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

function choose(parameters: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      full: { type: "boolean", default: false },
      only: { type: "string" },
      runtimes: { type: "string" },
      concurrency: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      warm: { type: "string" },
      output: { type: "string" },
    },
  });
  const { full } = values;
  return {
    full,
    works: pick(values.only, WORKS),
    runtimes: pick(values.runtimes, RUNTIMES),
    concurrency: values.concurrency?.split(",").map(readNumber) ?? (full ? [1, 16, 64] : [16]),
    rounds: readNumber(values.rounds ?? (full ? "5" : "3")),
    seconds: readNumber(values.seconds ?? (full ? "4" : "1")),
    warm: readNumber(values.warm ?? (full ? "8" : "1")),
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
