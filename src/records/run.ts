import type { Cursors } from "../feeds/cursors/cursors.ts";
import type {
  Client,
  Database,
  RunOptions,
  Step,
  TransactionStep,
} from "../database/postgres/database.ts";
import type { PageRow } from "./sql/query.ts";
import { compileSetStep, type Setting } from "./sql/settings.ts";
import type { KeyedRow } from "./sql/update_by_key.ts";
import type { LookUp } from "./batch_look_ups.ts";
import type { RunByKey } from "./pipeline_statements.ts";

/** Runs the statements of requests that arrive together in one round trip. */
export interface Batchers {
  /** Several look-ups in one statement. */
  readonly lookUp: LookUp;
  /** Look-ups where each statement carries the settings of its tenant: pipelined. */
  readonly readByKey: RunByKey<PageRow>;
  /** Updates, pipelined. */
  readonly writeByKey: RunByKey<KeyedRow>;
}

/** The run of one plan: the database of its statements, and the tenant and client that they are for. */
export interface Run extends Batchers {
  readonly database: Database;
  readonly cursors: Cursors;
  /** Settings that each of its statements makes. @see R22, R6 */
  readonly settings: readonly Setting[];
  /** The tenant whose share of the connections it takes, and the client that waits. */
  readonly requester: Required<Pick<RunOptions, "tenant">> & { readonly client: Client };
  /** Called if a stored answer is replayed. */
  readonly replayed: () => void;
}

/** Returns the first step of a transaction, its settings; none where there are none. */
export function settingSteps({ settings }: Run): Step[] {
  return settings.length === 0 ? [] : [(sql) => compileSetStep(sql, settings)];
}

/** Returns a run that reads within a transaction: it may hold the only session that there is. */
export function withReader(run: Run, read: Database["run"]): Run {
  return { ...run, database: { ...run.database, run: read } };
}

/** Runs steps in one transaction, and gives the one row of the last. */
export async function transact<R extends object>(
  run: Run,
  { steps, rollback, onFailure }: {
    readonly steps: readonly TransactionStep[];
    readonly rollback: boolean;
    readonly onFailure?: (step: Step) => void;
  },
): Promise<R> {
  const all = [...settingSteps(run), ...steps];
  const options = { rollback, ...(onFailure && { onFailure }), ...run.requester };
  const [row] = await run.database.transact(all, options);
  return row as unknown as R;
}
