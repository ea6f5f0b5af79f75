import type { Table } from "../../catalogue/catalogue.ts";
import type { Access } from "../../access/tokens/token.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import type { ChangeSource, ReadChanges, ReadPosition } from "./change_source.ts";
import type { Message } from "./leases.ts";
import { mintWebhookId } from "./secret.ts";

/** Changes in a message at most. */
const MAX_CHANGES = 200;
/** Bytes of a body at most; it is stored in the database while it is pending. @see WH12 */
export const MAX_BODY_BYTES = 262_144;

/** The start of the next message of a webhook. */
export interface MessageStart {
  readonly access: Access;
  readonly table: Table;
  readonly cursor: string;
  readonly nowMs: number;
}

/** The next message, or the new position in the feed if nothing has changed. */
export type NextMessage =
  | { readonly message: Message }
  | { readonly message?: undefined; readonly cursor: string };

/**
 * Makes the next message of a webhook from the feed of a table, with as many changes as fit. A record
 * that is too large for a message of its own is replaced by its key, and marked, so that the client
 * can query it.
 * @throws {ApiError} 404, 410 as {@link ChangeSource.read}
 * @see WH2, WH12
 */
export async function makeMessage(
  source: ChangeSource,
  { nowMs, cursor: first, ...start }: MessageStart,
): Promise<NextMessage> {
  const table = start.table.name;
  let cursor = first;
  for (let limit = MAX_CHANGES, keyOnly = false;;) {
    const read = await readPage(source, { ...start, cursor, limit, keyOnly });
    if (read === undefined) {
      [limit, keyOnly] = [1, true];
      continue;
    }
    const { changes, count, more } = read;
    if (count === 0) {
      cursor = read.cursor;
      if (more) continue;
      return { cursor };
    }
    const size = countBytes(changes);
    if (size <= MAX_BODY_BYTES || keyOnly) {
      const data = `{"table":${JSON.stringify(table)},"changes":${changes},"cursor":${
        JSON.stringify(read.cursor)
      }${keyOnly ? ',"partial":true' : ""}}`;
      const message = printMessage("rowgate.changes", { table, cursor: read.cursor, data, nowMs });
      return { message };
    }
    // Takes fewer than would fit if all changes had the same size, since they vary.
    if (count === 1) keyOnly = true;
    else limit = Math.max(1, Math.floor(Math.min(count, limit) * MAX_BODY_BYTES / size / 2));
  }
}

/** Reads a page of changes; undefined if a single record is too large. */
async function readPage(
  source: ChangeSource,
  position: ReadPosition,
): Promise<ReadChanges | undefined> {
  try {
    return await source.read(position);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400 && !position.keyOnly) return undefined;
    throw error;
  }
}

/** The position at which changes are available again, after some were missed. */
export interface ResetStart {
  readonly table: string;
  readonly cursor: string;
  readonly nowMs: number;
}

/**
 * Makes the message about missed changes, which the feed no longer has. A receiver that keeps a copy
 * must read the table again.
 * @see WH9
 */
export function makeReset({ table, cursor, nowMs }: ResetStart): Message {
  const data = JSON.stringify({ table, changes: [], cursor });
  return printMessage("rowgate.reset", { table, cursor, data, nowMs });
}

function printMessage(
  type: "rowgate.changes" | "rowgate.reset",
  { table, cursor, data, nowMs }: ResetStart & { readonly data: string },
): Message {
  const timestamp = new Date(nowMs).toISOString();
  const body = `{"type":"${type}","timestamp":"${timestamp}","data":${data}}`;
  return { id: mintWebhookId("msg"), table, cursor, body };
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
