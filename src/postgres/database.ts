import type { Fragment, PendingQuery, Row, Rows, Sql } from "./driver.ts";

/** Compiles one statement with the tag of the connection it will run on; may be called again for a retry. */
export type Compile<R extends Row = Row> = (sql: Sql) => PendingQuery<R[]>;

/** Compiles one statement of a transaction, from what the step before gave. */
export type Step = (sql: Sql, before: Rows) => Fragment;

/**
 * Who waits for an answer. Its signal is aborted when nobody does any more; it is asked for only once
 * something takes long, because runtimes make it on the first look and charge for that.
 */
export interface Client {
  readonly signal: AbortSignal;
}

/** How a statement is to be run. */
export interface RunOptions {
  /** True when the statement may change rows: it is never repeated after a lost connection. */
  readonly write: boolean;
  readonly client?: Client | undefined;
  /** Whose share of the connections it takes: a tenant's; nobody's in particular when undefined. */
  readonly share?: string | undefined;
}

/** How statements that leave together are run. */
export interface TogetherOptions extends Pick<RunOptions, "write" | "share"> {
  /** Who waits for them; when nobody does, each that has not ended is cancelled. */
  readonly client: Client;
  /** Called when they leave. */
  readonly sent: () => void;
}

/** Steps of a transaction in the lane, in order; the last one's rows are given back. */
export interface TransactionOptions extends Pick<RunOptions, "share" | "client"> {
  /** True: everything is done, deferred constraints included, and then undone. */
  readonly rollback: boolean;
}

/**
 * Postgres, behind one round trip a statement. Every rejection is a
 * `DatabaseError`; no text of Postgres stands in its message.
 */
export interface Database {
  /** What each statement must set for itself, because the session can't be trusted to have it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly run: <R extends Row>(compile: Compile<R>, options: RunOptions) => Promise<R[]>;
  /**
   * Runs statements that leave together on one session, one after the other, each in a transaction of
   * its own. Undefined for one that was cancelled or ran into others, so it was undone: it may be run
   * alone.
   * @see docs/decisions/0024-pipelined-updates.md
   */
  readonly runTogether: <R extends Row>(
    compiles: readonly Compile<R>[],
    options: TogetherOptions,
  ) => readonly Promise<R[] | undefined>[];
  /** Runs the steps in one transaction, on a connection of its own, one transaction at a time. */
  readonly transact: <R extends Row>(
    steps: readonly Step[],
    options: TransactionOptions,
  ) => Promise<Rows<R>>;
  /** Calls back on each NOTIFY of the channel; does nothing where no session can be held. */
  readonly listen: (channel: string, notified: () => void) => Promise<void>;
  /** Waits for what runs, at most the given milliseconds, then closes. */
  readonly close: (timeoutMs: number) => Promise<void>;
}
