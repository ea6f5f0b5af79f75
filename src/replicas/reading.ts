import type { Cursors, CursorUse } from "../cursors/cursors.ts";
import { ApiError } from "../errors/api_error.ts";
import type { ExportedRows } from "../records/export.ts";
import type { Records } from "../records/records.ts";
import type { Access } from "../tokens/token.ts";
import { laterOf, parsePosition, type Position, printPosition } from "./position.ts";
import type { Replicas } from "./replicas.ts";
import { rememberConflicts, watchConflicts } from "./conflicts.ts";
import { mayDoBetter, type Standby } from "./standby.ts";

/** The header that responses to writes carry, and that queries send back. @see M11, M12 */
export const POSITION_HEADER = "rowgate-position";
/** Most that a query can name. */
const MAX_POSITIONS = 16;

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

/** Makes the reading of a service with standbys. */
export function openReading(
  { replicas, cursors, records: primary, openRecords }: ReadingOptions,
): Reading {
  const conflicts = rememberConflicts();
  const ofStandby = new Map(replicas.standbys.map((standby) => [standby, openRecords(standby)]));

  async function recordsFor({ tokenId, tenant }: Access, { headers }: Request): Promise<Records> {
    const text = headers.get(POSITION_HEADER);
    const position = text === null ? undefined : await openPositions(text, tenant);
    const origin = { tokenId, position };

    async function read(...asked: Parameters<Records["read"]>): ReturnType<Records["read"]> {
      const standby = await replicas.choose(origin);
      return await runWhereSeen({ standby, position }, (records) => records.read(...asked));
    }

    async function exportRows(...asked: Parameters<Records["export"]>): Promise<ExportedRows> {
      const [{ table }] = asked;
      const standby = conflicts.isRecent(tenant, table.identifier)
        ? undefined
        : await replicas.choose(origin);
      return await runWhereSeen({ standby, position }, async (records) => {
        const rows = await records.export(...asked);
        return records === primary ? rows : watchConflicts(rows, () => {
          conflicts.note(tenant, table.identifier);
        });
      }, (rows) => rows.close());
    }

    return { ...primary, read, export: exportRows };
  }

  /**
   * Runs a query on a standby, or on the primary where there is none, or where it fails for a reason
   * that the primary may not have. What it gives is discarded if it may be older than the position.
   */
  async function runWhereSeen<Result>(
    { standby, position }: {
      readonly standby: Standby | undefined;
      readonly position: Position | undefined;
    },
    run: (records: Records) => Promise<Result>,
    discard: (result: Result) => Promise<void> = () => Promise.resolve(),
  ): Promise<Result> {
    const found = standby && await runOn(standby, run);
    if (found !== undefined) {
      if (position === undefined || found.isSame) return found.result;
      await discard(found.result);
    }
    if (position === undefined) return await run(primary);
    await replicas.confirm(position);
    const confirmed = await run(primary);
    try {
      // Another server may have become the primary meanwhile.
      await replicas.confirm(position);
    } catch (error) {
      await discard(confirmed);
      throw error;
    }
    return confirmed;
  }

  /** Gives undefined where it failed, and the primary is to be asked. */
  async function runOn<Result>(standby: Standby, run: (records: Records) => Promise<Result>) {
    const life = standby.life();
    try {
      const result = await run(ofStandby.get(standby)!);
      // Restarted, it may have replayed less than before.
      return { result, isSame: standby.life() === life };
    } catch (error) {
      if (!mayDoBetter(error)) throw error;
      void standby.ask();
      return undefined;
    }
  }

  /** Of several, for updates that were under way at the same time, it gives the last. */
  async function openPositions(text: string, tenant: string): Promise<Position> {
    const texts = text.split(",").map((item) => item.trim());
    if (texts.length > MAX_POSITIONS) {
      const found = `There are ${texts.length} positions`;
      throw new ApiError(400, `Rowgate-Position: ${found}, expected at most ${MAX_POSITIONS}`);
    }
    const positions = await Promise.all(texts.map((item) => openPosition(item, tenant)));
    return positions.reduce(laterOf);
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
