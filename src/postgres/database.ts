import type { Fence } from "./fence.ts";
import type { Others } from "./pace.ts";
import type { OnRow } from "./tap_rows.ts";
import type { Fragment, PendingQuery, Row, Rows, Sql } from "./driver.ts";

/** Compiles one statement with the tag that it is given; called again for a repetition. */
export type Compile<R extends Row = Row> = (sql: Sql) => PendingQuery<R[]>;

/** Compiles one statement of a transaction, from the rows of the step before. */
export type Step = (sql: Sql, before: Rows) => Fragment;

/** Steps of a transaction that are sent at once; the step after them gets the rows of all. */
export interface StepGroup {
  readonly steps: readonly Step[];
  /**
   * Called with the rows of all of them, in order, or of those before one that failed; what it throws
   * rolls the transaction back.
   */
  readonly take: (rows: Rows) => void;
}

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
  /** The tenant whose share of the connections it takes; the service itself when undefined. */
  readonly tenant?: string | undefined;
  /** True: it finds its row by the key, and takes Postgres a moment. */
  readonly brief?: boolean | undefined;
  /** True: what it reads must be the newest, so no standby stands in for the primary. */
  readonly ofPrimary?: boolean | undefined;
}

/** One statement of a pipeline, and the tenant whose share of the prepared statements it takes. */
export interface PipelinedStatement<R extends Row = Row> {
  readonly compile: Compile<R>;
  readonly tenant?: string | undefined;
}

/** How a pipeline is run. */
export interface PipelineOptions extends Pick<RunOptions, "write"> {
  /** Cancels a statement that runs for so many milliseconds, up to twice as many. */
  readonly stallMs: number;
  /** Called when the statements are sent. */
  readonly sent: () => void;
}

/** How a transaction is run. */
export interface TransactionOptions extends Pick<RunOptions, "tenant" | "client"> {
  /** Called with the step whose statement failed. */
  readonly onFailure?: (step: Step) => void;
  /** True: everything is done, deferred constraints are checked, and then it is rolled back. */
  readonly rollback: boolean;
}

/** How a statement is run whose rows are taken one by one. */
export interface StreamOptions {
  readonly tenant: string;
  /** Statements before it, in the same transaction. */
  readonly steps: readonly Compile[];
  /** Called with each row as it arrives; its bytes are valid until it returns. */
  readonly onRow: OnRow;
  /** The requests that it lets pass. */
  readonly others: Others;
}

/** The rows of such a statement, on their way. */
export interface RowStream {
  /** Takes no more rows for now, except those that are here already. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends it early; there are no more rows. */
  readonly cancel: () => void;
  /** Resolves behind the last row; rejects with a `DatabaseError`, also after it was cancelled. */
  readonly ended: Promise<void>;
  /** Resolves when Postgres no longer works on it; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Postgres, behind one round trip a statement. Every rejection is a
 * `DatabaseError`; no text of Postgres is in its message.
 */
export interface Database {
  /** What each statement must set for itself, because its session may not have it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly run: <R extends Row>(compile: Compile<R>, options: RunOptions) => Promise<R[]>;
  /**
   * Runs a pipeline: statements that are sent at once on one session, each in a transaction of its own.
   * Gives undefined for one that was cancelled or collided and was rolled back: it may be run alone. It
   * takes a place of the tenant, where all are of one.
   * @see docs/decisions/0024-pipelined-updates.md
   */
  readonly pipeline: <R extends Row>(
    statements: readonly PipelinedStatement<R>[],
    options: PipelineOptions,
  ) => readonly Promise<R[] | undefined>[];
  /** Runs the steps in one transaction, one transaction of a tenant at a time; gives the last rows. */
  readonly transact: <R extends Row>(
    steps: readonly (Step | StepGroup)[],
    options: TransactionOptions,
  ) => Promise<Rows<R>>;
  /** Runs a statement whose rows are taken one by one, on a session of its own beside the pools. */
  readonly stream: (compile: Compile, options: StreamOptions) => Promise<RowStream>;
  /**
   * Calls back with the payload of each NOTIFY of the channel, and with "" when some may have been
   * missed; does nothing behind a pooler and on the embedded one.
   */
  readonly listen: (channel: string, notified: (payload: string) => void) => Promise<void>;
  /** The primary that it writes to; left out where nothing depends on it. */
  readonly primary?: Pick<Fence, "timeline" | "see"> & {
    /** False while sessions of a standby stand in for it. */
    readonly isServing: () => boolean;
  };
  /** Waits for what runs, at most the given milliseconds, and closes. */
  readonly close: (timeoutMs: number) => Promise<void>;
}
