import type { ChangesPlan } from "../../records/plan/changes_plan.ts";
import type { Client } from "../../database/postgres/database.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";
import { POOL_WAIT } from "../../database/postgres/failure_kind.ts";
import { startDeadline } from "../../server/runtime/timers.ts";
import type { FeedPosition } from "./position.ts";
import type { ChangesPage } from "./read_changes.ts";

/** Memory for a page until its client has read it. */
export interface Room {
  /**
   * Holds so many bytes in place of those that are held; false: there is no room for more, and what is
   * held stays held.
   */
  readonly hold: (bytes: number) => boolean;
}

/** What a woken client reads. */
export interface Turn {
  readonly plan: ChangesPlan;
  readonly since: FeedPosition;
  readonly room: Room;
  readonly client: Client;
  /** When the client stops waiting for its turn, by `performance.now()`. */
  readonly untilMs: number;
}

/** The turns of woken clients. */
export interface Turns {
  /** Undefined: its time is over, the client has gone, or the turns have ended. */
  readonly take: (turn: Turn) => Promise<ChangesPage | undefined>;
  readonly close: () => void;
}

/** Pages that woken clients read at once. One commit may wake thousands of clients. */
const MAX_READING = 2;
/** Time until a client takes another turn if the pool was busy, or it had no room. */
const AGAIN_MS = 1000;

interface Reader extends Turn {
  /** Reads for all readers of its page, as part of its own request. */
  readonly lead: () => void;
  readonly settle: (page: ChangesPage | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** Readers of the same page. */
type Readers = Set<Reader>;

/**
 * Lets woken clients read in turn, tenant after tenant and few at a time, so that requests of others
 * find a connection. Clients that want the same page share one statement. A page is read only if there
 * is room for it, and no turn fails because the pool is busy.
 * @see CH24
 * @see docs/decisions/0049-cursors-and-feeds.md
 */
export function openTurns(read: ReadPage): Turns {
  const turns = new FairTurns(read);
  return { take: (turn) => turns.take(turn), close: () => turns.close() };
}

type ReadPage = (plan: ChangesPlan, since: FeedPosition) => Promise<ChangesPage>;

/** The clients that wait for their turn, by tenant. */
class FairTurns {
  readonly #read: ReadPage;
  /** The queue of each tenant, the one that read longest ago first. */
  readonly #queues = new Map<string, Map<string, Readers>>();
  readonly #nameTable = openNames();
  #reading = 0;
  #closed = false;

  constructor(read: ReadPage) {
    this.#read = read;
  }

  async take(turn: Turn): Promise<ChangesPage | undefined> {
    for (;;) {
      const page = await this.#join(turn);
      if (page !== undefined || this.#isOver(turn)) return page;
      await pause(turn);
    }
  }

  #isOver({ client, untilMs }: Turn): boolean {
    return this.#closed || client.signal.aborted || performance.now() >= untilMs;
  }

  #join(turn: Turn): Promise<ChangesPage | undefined> {
    const { plan, since, client, untilMs } = turn;
    if (this.#isOver(turn)) return Promise.resolve(undefined);
    const { tenant } = plan.scope;
    const queue = this.#queues.get(tenant) ?? new Map<string, Readers>();
    this.#queues.set(tenant, queue);
    const key =
      JSON.stringify([this.#nameTable(plan.table), plan.limit, plan.wideNumbersAsText, since]) +
      plan.columns.map(({ identifier }) => identifier).join();
    const readers = queue.get(key) ?? new Set();
    queue.set(key, readers);
    return new Promise((resolve, reject) => {
      const leave = () => {
        endDeadline();
        readers.delete(reader);
      };
      let lead = () => {};
      void new Promise<void>((begin) => lead = begin).then(() => this.#readFor(readers)).finally(
        () => {
          this.#reading--;
          this.#startReading();
        },
      );
      const reader: Reader = {
        ...turn,
        lead,
        settle: (page) => (leave(), resolve(page)),
        fail: (error) => (leave(), reject(error)),
      };
      const late = () => reader.settle(undefined);
      const endDeadline = startDeadline({ ms: untilMs - performance.now(), late, client });
      readers.add(reader);
      this.#startReading();
    });
  }

  #startReading(): void {
    while (this.#reading < MAX_READING) {
      const readers = this.#takeNext();
      if (readers === undefined) return;
      const [first] = readers;
      this.#reading++;
      first!.lead();
    }
  }

  #takeNext(): Readers | undefined {
    for (const [tenant, queue] of this.#queues) {
      this.#queues.delete(tenant);
      for (const [key, readers] of queue) {
        queue.delete(key);
        if (readers.size === 0) continue;
        if (queue.size > 0) this.#queues.set(tenant, queue);
        return readers;
      }
    }
    return undefined;
  }

  /** Reads a page, in the room of the first that has any. Those without any take another turn. */
  async #readFor(readers: Readers): Promise<void> {
    const [first] = readers;
    if (first === undefined) return;
    const { plan, since, room } = first;
    if (!room.hold(plan.maxPageBytes)) return this.#settleAll(readers);
    try {
      const page = await this.#read(plan, since);
      const bytes = measurePage(page);
      room.hold(readers.has(first) ? bytes : 0);
      for (const reader of [...readers]) reader.settle(reader.room.hold(bytes) ? page : undefined);
    } catch (error) {
      room.hold(0);
      if (isBusy(error)) this.#settleAll(readers);
      else for (const reader of [...readers]) reader.fail(error);
    }
  }

  #settleAll(readers: Readers): void {
    for (const reader of [...readers]) reader.settle(undefined);
  }

  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) {
      for (const readers of queue.values()) this.#settleAll(readers);
    }
    this.#queues.clear();
  }
}

/** Reports whether a statement was not run because no connection was free in time. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === POOL_WAIT;
}

/** Counts the bytes of a page, those of letters beyond ASCII as one each. */
export function measurePage({ changes }: Pick<ChangesPage, "changes">): number {
  return changes.reduce((sum, { length }) => sum + length, 0);
}

/** Gives each table of a catalogue a number of its own. */
function openNames(): (table: object) => number {
  const names = new WeakMap<object, number>();
  let last = 0;
  return (table) => {
    const name = names.get(table) ?? ++last;
    names.set(table, name);
    return name;
  };
}

function pause({ client, untilMs }: Turn): Promise<void> {
  const ms = Math.max(0, Math.min(AGAIN_MS, untilMs - performance.now()));
  return new Promise((resolve) => {
    const late = () => {
      end();
      resolve();
    };
    const end = startDeadline({ ms, late, client });
  });
}
