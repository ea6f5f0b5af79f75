import type { Cursors } from "../../feeds/cursors/cursors.ts";
import type { ExportedRows } from "../../records/export.ts";
import type { Records } from "../../records/records.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { Position } from "./position.ts";
import type { Replicas } from "./replicas.ts";
import { rememberConflicts, watchConflicts } from "./conflicts.ts";
import { createPositionSeal } from "./position_seal.ts";
import { mayDoBetter, type Standby } from "./standby.ts";

/** The header of responses to writes, which queries send back. @see M11, M12 */
export const POSITION_HEADER = "rowgate-position";

/** Runs queries on standbys, and gives clients the positions of their writes. */
export interface Reading {
  /**
   * Returns the records for one request, whose queries run on a server that has the required
   * position.
   * @throws {ApiError} 400 the position is not from a response
   */
  readonly recordsFor: (access: Access, request: Request) => Promise<Records>;
  /** Begins a write of a token. The returned function ends it and gives the header of the response. */
  readonly beginWrite: (access: Access) => () => Promise<string | undefined>;
}

/** The parts that reading needs. */
export interface ReadingOptions {
  readonly replicas: Replicas;
  readonly cursors: Cursors;
  /** The records of the primary. */
  readonly records: Records;
  /** Opens the records of a standby. */
  readonly openRecords: (standby: Standby) => Records;
}

/** Makes the reading of a service with standbys. */
export function openReading(
  { replicas, cursors, records: primary, openRecords }: ReadingOptions,
): Reading {
  const conflicts = rememberConflicts();
  const positions = createPositionSeal({ cursors, system: replicas.system });
  const ofStandby = new Map(replicas.standbys.map((standby) => [standby, openRecords(standby)]));

  async function recordsFor({ tokenId, tenant }: Access, { headers }: Request): Promise<Records> {
    const text = headers.get(POSITION_HEADER);
    const position = text === null ? undefined : await positions.open(text, tenant);
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
   * Runs a query on a standby. Uses the primary if there is no standby, or if the failure may not
   * occur there. A result that may be older than the position is discarded.
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
      // Checked again, as another server may have become the primary meanwhile.
      await replicas.confirm(position);
    } catch (error) {
      await discard(confirmed);
      throw error;
    }
    return confirmed;
  }

  /** Returns undefined if it failed and the primary should be asked. */
  async function runOn<Result>(standby: Standby, run: (records: Records) => Promise<Result>) {
    const life = standby.life();
    try {
      const result = await run(ofStandby.get(standby)!);
      // After a restart, it may have replayed less than before.
      return { result, isSame: standby.life() === life };
    } catch (error) {
      if (!mayDoBetter(error)) throw error;
      void standby.ask();
      return undefined;
    }
  }

  function beginWrite({ tokenId, tenant }: Access): () => Promise<string | undefined> {
    const write = replicas.beginWrite(tokenId);
    return async () => {
      const position = await write.end();
      // Without a position, the queries of the token go to the primary for a while anyway.
      return position && await positions.seal(position, tenant);
    };
  }

  return { recordsFor, beginWrite };
}
