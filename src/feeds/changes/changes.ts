import { openCursors } from "../cursors/cursors.ts";
import type { ChangesPlan } from "../../records/plan/changes_plan.ts";
import type { Client, Database } from "../../database/postgres/database.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { checkWhenFree, type CurrentAccess } from "../../access/tokens/current_access.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { TokenRecord } from "../../access/tokens/token_record.ts";
import { rejectCursor, rejectFull } from "./feed_errors.ts";
import { type FeedPosition, parseFeedPosition, printFeedPosition } from "./position.ts";
import { type ChangesPage, readChanges } from "./read_changes.ts";
import type { SnapshotStandbys } from "./read_on_standby.ts";
import type { Since } from "./read_row.ts";
import type { Wait, Waited } from "./waiters.ts";
import { measurePage, openTurns, type Room, type Turn } from "./turns.ts";
import { openWatch } from "./watch.ts";

export type { ChangesPage, FeedPosition, Since };

/** The changes feeds of a database. */
export interface Changes {
  /**
   * Reads the next changes of a table.
   * @throws {ApiError} 404, 410 or 400, as `readChanges`
   * @throws {DatabaseError}
   */
  readonly read: (plan: ChangesPlan, since: Since, client?: Client) => Promise<ChangesPage>;
  /**
   * Reads the next changes for a client that was woken, when it is its turn. Undefined: it was not until
   * the end of its time.
   * @throws {ApiError} as `read`
   * @throws {DatabaseError}
   */
  readonly readInTurn: (turn: Turn) => Promise<ChangesPage | undefined>;
  /**
   * Waits until there is something new after a position at which `more` was false.
   * @throws {ApiError} 429 or 503 if too many clients wait
   * @throws {DatabaseError}
   */
  readonly wait: (wait: Wait) => Promise<Waited>;
  /** Prints a position as the cursor that clients get. */
  readonly seal: (
    position: FeedPosition,
    plan: Pick<ChangesPlan, "table" | "scope">,
  ) => Promise<string>;
  /**
   * Reads `start`, `now` or a cursor.
   * @throws {ApiError} 400 it is not a cursor of this tenant and table
   */
  readonly open: (text: string, plan: Pick<ChangesPlan, "table" | "scope">) => Promise<Since>;
  /** Ends all waits, so that requests get responses and streams end. */
  readonly close: () => void;
  /** True once it was closed. */
  readonly closed: () => boolean;
}

/** What the feeds need. */
export interface ChangesOptions {
  readonly observe: Observe;
  /** Name of the operator's setting with the tenant, if any. */
  readonly tenantSetting: string | undefined;
  /** Called with the records of waiting clients' tokens, as of the given time. */
  readonly confirmed?: (records: readonly TokenRecord[], atMs: number) => void;
  /** Where the rows of a table may be read; left out: on the primary. */
  readonly standbys?: SnapshotStandbys | undefined;
}

/** Longer texts are not cursors: the longest one names 600 transactions and a key. */
const MAX_CURSOR_CHARACTERS = 16_384;

/** Opens the changes feeds of a database, once for all requests. @see docs/specification/changes.md */
export function openChanges(
  database: Database,
  { observe, tenantSetting, confirmed, standbys }: ChangesOptions,
): Changes {
  const cursors = openCursors(database);
  const counted = (clients: number) => observe({ kind: "changes_waiting", clients });
  const watch = openWatch({ database, counted, ...(confirmed && { confirmed }) });
  const turns = openTurns(read);
  let closed = false;

  function read(plan: ChangesPlan, since: Since, client?: Client): Promise<ChangesPage> {
    const settings = tenantSetting === undefined
      ? []
      : [{ name: tenantSetting, value: plan.scope.tenant }];
    return readChanges(plan, since, { database, settings, client, standbys });
  }

  function seal(position: FeedPosition, plan: Pick<ChangesPlan, "table" | "scope">) {
    return cursors.seal(printFeedPosition(position), useOf(plan));
  }

  async function open(text: string, plan: Pick<ChangesPlan, "table" | "scope">): Promise<Since> {
    if (text === "start" || text === "now") return text;
    const payload = text.length > MAX_CURSOR_CHARACTERS
      ? undefined
      : await cursors.open(text, useOf(plan));
    if (payload === undefined) throw rejectCursor(text);
    return parseFeedPosition(payload);
  }

  function close(): void {
    closed = true;
    watch.close();
    turns.close();
  }

  return {
    read,
    readInTurn: turns.take,
    wait: watch.wait,
    seal,
    open,
    close,
    closed: () => closed,
  };
}

function useOf({ table, scope }: Pick<ChangesPlan, "table" | "scope">) {
  return { kind: "changes", boundTo: [scope.tenant, table.name] } as const;
}

/** Where a client follows from, its access, and how long it waits. */
export interface FollowOptions {
  readonly client: Client;
  readonly current: CurrentAccess;
  readonly waitMs: number;
  /** The stream that it has, if any; it reads in turn from the beginning. */
  readonly stream?: { readonly more: boolean };
  /** Memory for the page. */
  readonly room: Room;
  /** Called before a wait: from then on the client takes no place from others. */
  readonly onWait?: () => void;
}

/** The result of following: a page, or why there is none. */
export type Followed =
  | { readonly kind: "page"; readonly page: ChangesPage }
  /** The token allows something else now; undefined: it has ended. */
  | { readonly kind: "ended"; readonly access: Access | undefined }
  | { readonly kind: "gone" };

/**
 * Reads the next changes. If there are none, it waits for them until the time is over or the feeds
 * are closed. From then on it reads in turn, and its page is empty if it had no turn in time. A page is
 * given only as long as the client's access is the same.
 * @throws {ApiError} among them those of {@link CurrentAccess.check}
 * @throws {DatabaseError}
 * @see CH7
 */
export async function followChanges(
  changes: Changes,
  plan: ChangesPlan,
  { since: first, client, current, waitMs, stream, room, onWait }: FollowOptions & {
    readonly since: Since;
  },
): Promise<Followed> {
  const untilMs = performance.now() + waitMs;
  const hasMore = stream?.more === true;
  let since = first;
  let mayWait = waitMs > 0 && !hasMore && isAtRest(since);
  let inTurn = stream !== undefined;
  for (;;) {
    if (mayWait) {
      onWait?.();
      inTurn = true;
      const waited = await changes.wait({
        plan,
        position: since as FeedPosition,
        access: current.access,
        client,
        untilMs,
      });
      if (waited.kind === "ended" || waited.kind === "gone") return waited;
      if (waited.kind === "idle") {
        return { kind: "page", page: { changes: [], position: waited.position, more: false } };
      }
      since = waited.position;
    }
    const page = inTurn
      ? await changes.readInTurn({ plan, since: since as FeedPosition, room, client, untilMs })
      : await changes.read(plan, since, client);
    if (page === undefined) {
      const none = { changes: [], position: since as FeedPosition, more: hasMore };
      return { kind: "page", page: none };
    }
    await (inTurn ? checkWhenFree(current) : current.check());
    if (!room.hold(measurePage(page))) throw rejectFull();
    const isOver = hasMore || performance.now() >= untilMs || changes.closed();
    if (page.changes.length > 0 || page.more || isOver) return { kind: "page", page };
    since = page.position;
    mayWait = true;
  }
}

/** Reports whether a position had nothing after it: the watch asks for all such clients together. */
function isAtRest(since: Since): boolean {
  return typeof since !== "string" && since.rows === undefined && since.partial === undefined;
}
