import type { Sql } from "../../src/database/postgres/driver.ts";
import type { Cluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { load, type Turn, writeAsks } from "./load.ts";
import type { Options, Runtime, Work } from "./options.ts";
import { awaitIdlePostgres, vacuumContacts } from "./idle_postgres.ts";
import { isUpdate, type Task } from "./work.ts";

/** One contender on one work at one concurrency: all its turns. */
export interface Cell {
  readonly work: Work;
  readonly concurrency: number;
  readonly contender: string;
  readonly kind: Contender["kind"];
  readonly runtime?: Runtime;
  readonly turns: readonly Turn[];
}

/** The content of results.json. */
export interface Measured {
  readonly when: string;
  readonly machine: string;
  readonly postgres: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrency: readonly number[];
  /** What the drawn works were drawn from. */
  readonly seed: number;
  readonly cells: readonly Cell[];
}

/** The parameters of the rounds. */
export interface RoundOptions {
  readonly tasks: ReadonlyMap<Work, readonly Task[]>;
  readonly options: Pick<Options, "concurrency" | "rounds" | "seconds" | "warm">;
  readonly folder: string;
  readonly cluster: Cluster;
  /** The database of the data. */
  readonly sql: Sql;
  /** Called with the cells of each work once it has been measured. */
  readonly onMeasured?: (cells: readonly Cell[]) => Promise<void>;
}

/** A cell that is being filled, its contender, and the file of its requests. */
interface Running {
  readonly cell: Cell & { readonly turns: Turn[] };
  readonly contender: Contender;
  readonly file: string;
}

/**
 * Loads every contender in every round, so that a machine that slows down slows all of them. Reads come
 * first: after millions of updates they would read what those left behind. All works are sent before
 * the first is measured: a service that has only ever seen one kind of request
 * is compiled for that one.
 */
export async function measureRounds(
  contenders: readonly Contender[],
  options: RoundOptions,
): Promise<Cell[]> {
  const cells: Cell[] = [];
  const { onMeasured } = options;
  for (const update of [false, true]) {
    const tasks = new Map([...options.tasks].filter(([work]) => isUpdate(work) === update));
    const running = await warmUp(contenders, { ...options, tasks });
    for (const work of tasks.keys()) {
      const own = await measureWork(running.filter(({ cell }) => cell.work === work), options);
      cells.push(...own);
      await onMeasured?.(own);
    }
  }
  return cells;
}

/** The order rotates, so that no contender always follows a heavy update. */
async function measureWork(
  running: readonly Running[],
  { options: { rounds, seconds }, cluster, sql }: RoundOptions,
): Promise<Cell[]> {
  const groups = Map.groupBy(running, ({ cell }) => `${cell.work} at ${cell.concurrency}`);
  for (let round = 0; round < rounds; round++) {
    for (const [name, group] of groups) {
      for (let place = 0; place < group.length; place++) {
        const { cell, contender, file } = group[(place + round) % group.length]!;
        await awaitIdlePostgres(sql);
        if (isUpdate(cell.work)) await vacuumContacts(sql);
        const { concurrency } = cell;
        cell.turns.push(
          await load(contender, { file, concurrency, seconds, postgres: cluster.pid }),
        );
      }
      console.log(`round ${round + 1} of ${rounds}: ${name}`);
    }
  }
  return running.map(({ cell }) => cell);
}

/**
 * Loads each contender with each work before the first turn: V8 compiles a handler over some thousands
 * of requests.
 */
async function warmUp(
  contenders: readonly Contender[],
  { tasks, options, folder, cluster }: RoundOptions,
): Promise<Running[]> {
  const running: Running[] = [];
  for (const [work, list] of tasks) {
    console.log(`warming up: ${work}, ${contenders.length} contenders for ${options.warm} s each`);
    for (const contender of contenders) {
      const file = await writeAsks(contender, list, { folder, name: work });
      const { name, kind, runtime } = contender;
      for (const concurrency of options.concurrency) {
        const cell = { work, concurrency, contender: name, kind, runtime, turns: [] };
        running.push({ cell, contender, file });
      }
      const warm = { file, concurrency: 16, seconds: options.warm, postgres: cluster.pid };
      await load(contender, warm);
    }
  }
  return running;
}
