import type { Fence } from "./fence.ts";
import type { Others } from "./pace.ts";
import type { OnRow } from "./tap_rows.ts";
import type { Fragment, PendingQuery, Row, Rows, Sql } from "./driver.ts";

/** Compiles one statement with the given tag; called again if the statement is repeated. */
export type Compile<R extends Row = Row> = (sql: Sql) => PendingQuery<R[]>;

/** Compiles one statement of a transaction; `before` has the rows of the previous step. */
export type Step = (sql: Sql, before: Rows) => Fragment;

/** Steps of a transaction that are sent at once; the step after them gets the rows of all. */
export interface StepGroup {
  readonly steps: readonly Step[];
  /**
   * Called with the rows of all steps, in order, or of those before one that failed; not called if
   * the first failed. If it throws, the transaction is rolled back.
   */
  readonly take: (rows: Rows) => void;
}

/** Steps that are known only when those before them have run. */
export interface LaterSteps {
  readonly later: () => readonly TransactionStep[];
}

/** Steps in a savepoint: if they fail, what they have done is undone, and the transaction can go on. */
export interface AttemptedSteps {
  readonly attempted: readonly TransactionStep[];
  /**
   * Called once they are undone, unless the session has ended: with the error of a statement, or what a
   * `take` has thrown, and with a function that reads in the same transaction, which may fail.
   */
  readonly onFailed: (error: unknown, read: Database["run"]) => Promise<AfterFailure>;
}

/** What follows steps that failed: the next ones, the same once more, or the end of the transaction. */
export type AfterFailure = "next" | "again" | "end";

/** One part of a transaction. */
export type TransactionStep = Step | StepGroup | LaterSteps | AttemptedSteps;

/**
 * The client that waits for a response. Its signal is aborted when the client disconnects. It is read
 * only when something takes long, because runtimes create it when it is first read.
 */
export interface Client {
  readonly signal: AbortSignal;
}

/** How a statement is run. */
export interface RunOptions {
  /** True when the statement may change rows: it is never repeated after a lost connection. */
  readonly write: boolean;
  readonly client?: Client | undefined;
  /** The tenant whose share of the connections it takes; undefined: the service itself. */
  readonly tenant?: string | undefined;
  /** True: it finds its row by the key, so it is fast. */
  readonly brief?: boolean | undefined;
  /** True: it must read current data, so no standby replaces the primary. */
  readonly ofPrimary?: boolean | undefined;
}

/** One statement of a pipeline, and the tenant whose share of the prepared statements it takes. */
export interface PipelinedStatement<R extends Row = Row> {
  readonly compile: Compile<R>;
  readonly tenant?: string | undefined;
}

/** How a pipeline is run. */
export interface PipelineOptions extends Pick<RunOptions, "write"> {
  /** A statement that runs longer than this is cancelled, at the latest after twice the time. */
  readonly stallMs: number;
  /** Called when the statements are sent. */
  readonly sent: () => void;
}

/** How a transaction is run. */
export interface TransactionOptions extends Pick<RunOptions, "tenant" | "client"> {
  /** Called with the step whose statement failed. */
  readonly onFailure?: (step: Step) => void;
  /** True: the transaction runs, deferred constraints are checked, and then it is rolled back. */
  readonly rollback: boolean;
}

/** How a statement is run whose rows are streamed. */
export interface StreamOptions {
  readonly tenant: string;
  /** Statements before it, in the same transaction. */
  readonly steps: readonly Compile[];
  /** Called with each row as it arrives; its bytes are valid until it returns. */
  readonly onRow: OnRow;
  /** The requests that the stream gives way to. */
  readonly others: Others;
}

/** The running stream of a statement. */
export interface RowStream {
  /** Stops taking rows, except those that have arrived already. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends the stream early; no more rows are given. */
  readonly cancel: () => void;
  /** Resolves after the last row; rejects with a `DatabaseError`, also after `cancel`. */
  readonly ended: Promise<void>;
  /** Resolves when Postgres no longer works on the statement; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * A Postgres database. A statement takes one round trip. Every rejection is a `DatabaseError`, whose
 * message has no text of Postgres.
 */
export interface Database {
  readonly run: <R extends Row>(compile: Compile<R>, options: RunOptions) => Promise<R[]>;
  /**
   * Runs a pipeline: statements that are sent together on one session, each in a transaction of its
   * own. Gives undefined for a statement that was rolled back because it was cancelled or collided:
   * it may be run alone. If all statements are of one tenant, the pipeline takes a place from its
   * share.
   * @see docs/decisions/0022-by-key.md
   */
  readonly pipeline: <R extends Row>(
    statements: readonly PipelinedStatement<R>[],
    options: PipelineOptions,
  ) => readonly Promise<R[] | undefined>[];
  /**
   * Runs the steps in one transaction, one transaction of a tenant at a time; gives the rows of the
   * last step.
   */
  readonly transact: <R extends Row>(
    steps: readonly TransactionStep[],
    options: TransactionOptions,
  ) => Promise<Rows<R>>;
  /** Runs a statement whose rows are streamed, on a session of its own beside the pools. */
  readonly stream: (compile: Compile, options: StreamOptions) => Promise<RowStream>;
  /**
   * Calls back with the payload of each NOTIFY on the channel, and with "" if some may have been
   * missed. Does nothing behind a pooler and on the embedded Postgres.
   */
  readonly listen: (channel: string, notified: (payload: string) => void) => Promise<void>;
  /** The primary that it writes to; left out if there are no standbys. */
  readonly primary?: Pick<Fence, "timeline" | "see"> & {
    /** False while sessions of a standby are used in its place. */
    readonly isServing: () => boolean;
  };
  /** Waits for running statements, at most the given milliseconds, and closes. */
  readonly close: (timeoutMs: number) => Promise<void>;
}
