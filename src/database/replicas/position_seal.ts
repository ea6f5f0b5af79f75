import type { Cursors, CursorUse } from "../../feeds/cursors/cursors.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import { laterOf, parsePosition, type Position, printPosition } from "./position.ts";

/** Seals the positions of writes for clients, bound to a tenant and its database, and opens them. */
export interface PositionSeal {
  /** Seals the position of a write; undefined if cursors are not available. */
  readonly seal: (position: Position, tenant: string) => Promise<string | undefined>;
  /**
   * Opens the positions of simultaneous updates, and returns the latest.
   * @throws {ApiError} 400 one is not from a response
   */
  readonly open: (text: string, tenant: string) => Promise<Position>;
}

/** What positions are sealed with. */
export interface SealOptions {
  readonly cursors: Cursors;
  /** Returns the system identifier of the database. */
  readonly system: () => Promise<string>;
}

/** Most positions that a query can name. */
const MAX_POSITIONS = 16;

/** Makes the seal of a service. */
export function createPositionSeal({ cursors, system }: SealOptions): PositionSeal {
  async function seal(position: Position, tenant: string): Promise<string | undefined> {
    try {
      return await cursors.seal(printPosition(position), await useOf(tenant));
    } catch {
      return undefined;
    }
  }

  async function open(text: string, tenant: string): Promise<Position> {
    const texts = text.split(",").map((item) => item.trim());
    if (texts.length > MAX_POSITIONS) {
      const found = `There are ${texts.length} positions`;
      throw new ApiError(400, `Rowgate-Position: ${found}, expected at most ${MAX_POSITIONS}`);
    }
    const positions = await Promise.all(texts.map((item) => openOne(item, tenant)));
    return positions.reduce(laterOf);
  }

  async function openOne(text: string, tenant: string): Promise<Position> {
    const payload = await cursors.open(text, await useOf(tenant));
    if (payload !== undefined) return parsePosition(payload);
    const expected = "expected the header of a response to an update";
    throw new ApiError(400, `Rowgate-Position: This is not the position of a write, ${expected}`);
  }

  async function useOf(tenant: string): Promise<CursorUse> {
    return { kind: "position", boundTo: [tenant, await system()] };
  }

  return { seal, open };
}
