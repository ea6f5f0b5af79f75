import type { Cluster } from "./cluster.ts";
import { canDo, type Contender } from "./contender.ts";
import { load, type Turn, writeAsks } from "./load.ts";
import type { Options, Runtime, Work } from "./options.ts";
import { awaitQuiet } from "./quiet.ts";
import type { Task } from "./work.ts";

/** One contender on one work at one concurrency: all its turns. */
export interface Cell {
  readonly work: Work;
  readonly concurrency: number;
  readonly contender: string;
  readonly kind: Contender["kind"];
  readonly runtime?: Runtime;
  readonly turns: readonly Turn[];
}

/** What results.json holds. */
export interface Measured {
  readonly when: string;
  readonly machine: string;
  readonly postgres: string;
  readonly full: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrency: readonly number[];
  readonly cells: readonly Cell[];
}

/** What the rounds are run with. */
export interface RoundOptions {
  readonly tasks: ReadonlyMap<Work, readonly Task[]>;
  readonly options: Options;
  readonly folder: string;
  readonly cluster: Cluster;
}

/**
 * Loads every contender in every round, so that a machine that slows down slows all of them. The
 * order turns, so that nobody is always the one behind a heavy update. Before that each is warmed with
 * each work: V8 goes on compiling a handler for some thousands of requests.
 */
export async function measureRounds(
  contenders: readonly Contender[],
  { tasks, options, folder, cluster }: RoundOptions,
): Promise<Cell[]> {
  const cells:
    (Cell & { readonly turns: Turn[]; readonly file: string; readonly of: Contender })[] = [];
  for (const [work, list] of tasks) {
    for (const of of contenders) {
      if (!canDo(of, work)) continue;
      const file = await writeAsks(of, list, { folder, name: work });
      for (const concurrency of options.concurrency) {
        const { name: contender, kind, runtime } = of;
        cells.push({ work, concurrency, contender, kind, runtime, turns: [], file, of });
      }
      const warm = { file, concurrency: 16, seconds: options.warm, postgres: cluster.pid };
      await load(of, warm);
    }
  }
  const sql = cluster.connect("postgres");
  for (let round = 0; round < options.rounds; round++) {
    const groups = Map.groupBy(cells, ({ work, concurrency }) => `${work} at ${concurrency}`);
    for (const [name, group] of groups) {
      for (let place = 0; place < group.length; place++) {
        const { of, file, concurrency, turns } = group[(place + round) % group.length]!;
        await awaitQuiet(sql);
        turns.push(
          await load(of, { file, concurrency, seconds: options.seconds, postgres: cluster.pid }),
        );
      }
      console.log(`round ${round + 1} of ${options.rounds}: ${name}`);
    }
  }
  await sql.end();
  return cells.map(({ file: _file, of: _of, ...cell }) => cell);
}
