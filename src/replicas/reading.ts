import type { Cursors, CursorUse } from "../cursors/cursors.ts";
import { ApiError } from "../errors/api_error.ts";
import { findDatabaseError } from "../postgres/database_error.ts";
import type { FailureKind } from "../postgres/failure_kind.ts";
import type { PlannedRequest, Records } from "../records/records.ts";
import type { Access } from "../tokens/token.ts";
import { parsePosition, type Position, printPosition } from "./position.ts";
import type { Replicas } from "./replicas.ts";
import type { Standby } from "./standby.ts";

/** The header that responses to writes carry, and that queries send back. @see M11, M12 */
export const POSITION_HEADER = "rowgate-position";

/** Reads from standbys, and tells clients where their writes can be read. */
export interface Reading {
  /**
   * Gives the records for one request, whose queries run where they see what they must.
   * @throws {ApiError} 400 a position that no response carried
   */
  readonly recordsFor: (access: Access, request: Request) => Promise<Records>;
  /** Begins a write of a token; what it gives ends it, with the header of the response. */
  readonly beginWrite: (access: Access) => () => Promise<string | undefined>;
}

/** What reading needs. */
export interface ReadingOptions {
  readonly replicas: Replicas;
  readonly cursors: Cursors;
  /** Those of the primary. */
  readonly records: Records;
  /** Opens those of a standby. */
  readonly openRecords: (standby: Standby) => Records;
}

/** Failures of a standby after which the primary is asked: it may lack what the primary has. */
const ASKED_AGAIN: ReadonlySet<FailureKind> = new Set(
  ["unavailable", "lost", "serialization", "stale", "permission", "remote", "unknown"],
);

/** Makes the reading of a service with standbys. */
export function openReading(
  { replicas, cursors, records, openRecords }: ReadingOptions,
): Reading {
  const ofStandby = new Map(replicas.standbys.map((standby) => [standby, openRecords(standby)]));

  async function recordsFor({ tokenId, tenant }: Access, { headers }: Request): Promise<Records> {
    const text = headers.get(POSITION_HEADER);
    const position = text === null ? undefined : await openPosition(text, tenant);
    const origin = { tokenId, position };

    async function read(...asked: Parameters<Records["read"]>): ReturnType<Records["read"]> {
      const standby = await replicas.choose(origin);
      const page = standby && await readFrom(standby, asked, position);
      if (page !== undefined) return page;
      if (position === undefined) return await records.read(...asked);
      await replicas.confirm(position);
      const confirmed = await records.read(...asked);
      // Another server may have become the primary meanwhile.
      await replicas.confirm(position);
      return confirmed;
    }

    return { ...records, read };
  }

  async function readFrom(
    standby: Standby,
    asked: readonly [plan: Parameters<Records["read"]>[0], request: PlannedRequest],
    position: Position | undefined,
  ) {
    const life = standby.life();
    try {
      const page = await ofStandby.get(standby)!.read(...asked);
      return position === undefined || standby.life() === life ? page : undefined;
    } catch (error) {
      const failure = findDatabaseError(error);
      if (failure === undefined || !ASKED_AGAIN.has(failure.kind)) throw error;
      void standby.ask();
      return undefined;
    }
  }

  async function openPosition(text: string, tenant: string): Promise<Position> {
    const payload = await cursors.open(text, await useOf(tenant));
    if (payload !== undefined) return parsePosition(payload);
    const expected = "expected the header of a response to an update";
    throw new ApiError(400, `Rowgate-Position: This is no position of a write, ${expected}`);
  }

  async function useOf(tenant: string): Promise<CursorUse> {
    return { kind: "position", boundTo: [tenant, await replicas.system()] };
  }

  function beginWrite({ tokenId, tenant }: Access): () => Promise<string | undefined> {
    const write = replicas.beginWrite(tokenId);
    return async () => {
      const position = await write.end();
      if (position === undefined) return undefined;
      try {
        return await cursors.seal(printPosition(position), await useOf(tenant));
      } catch {
        // Not available here: for a while, queries of the token go to the primary all the same.
        return undefined;
      }
    };
  }

  return { recordsFor, beginWrite };
}
