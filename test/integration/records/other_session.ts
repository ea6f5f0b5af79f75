import type { ReservedSql, Sql } from "../../../src/database/postgres/driver.ts";
import { waitUntil } from "../../support/wait_until.ts";

/** A session of another application, which may hold a transaction open while ours wait. */
export interface OtherSession {
  /** Runs statements, in the transaction when one is open. */
  readonly run: (text: string) => Promise<void>;
  /** Sends statements that are to wait for a lock, and settles once they do. */
  readonly runBlocked: (text: string) => Promise<Blocked>;
  /** Settles once so many sessions wait for what this one holds, themselves or in the queue. */
  readonly awaitBlocked: (sessions: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Statements that wait for a lock. */
export interface Blocked {
  readonly done: Promise<void>;
}

/** Opens a session of its own, as the client's user. */
export async function openOtherSession(admin: Sql): Promise<OtherSession> {
  const session: ReservedSql = await admin.reserve();
  const run = async (text: string) => void await session.unsafe(text);
  const [{ pid }] = await session<[{ pid: number }]>`select pg_backend_pid() as pid`;

  async function awaitLock(enough: (waiting: readonly { pid: number }[]) => boolean) {
    await waitUntil(async () => {
      const waiting = await admin<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      return enough(waiting);
    });
  }

  return {
    run,
    runBlocked: async (text) => {
      const done = run(text);
      done.catch(() => {});
      await awaitLock((waiting) => waiting.some((other) => other.pid === pid));
      return { done };
    },
    awaitBlocked: (sessions) => awaitLock((waiting) => waiting.length >= sessions),
    close: async () => {
      await session.unsafe("rollback");
      session.release();
    },
  };
}

/** What another transaction does, and whether it is undone. */
export interface OtherTransaction {
  readonly statements: string;
  readonly rollback?: boolean | undefined;
}

/** Has another transaction come first and end once ours waits for it; returns what ours becomes. */
export async function race<T>(
  admin: Sql,
  { statements, rollback = false }: OtherTransaction,
  ours: () => Promise<T>,
): Promise<T> {
  const session = await openOtherSession(admin);
  try {
    await session.run(`begin; ${statements}`);
    const pending = ours();
    await session.awaitBlocked(1);
    await session.run(rollback ? "rollback" : "commit");
    return await pending;
  } finally {
    await session.close();
  }
}
