import { findDatabaseError } from "../database/postgres/database_error.ts";
import type { ExportEnd, Observe } from "../server/telemetry/observe.ts";
import { checkWhenFree, type CurrentAccess } from "../access/tokens/current_access.ts";
import type { ExportResult, ExportSource } from "./export_stream.ts";
import type { Trace } from "./trace.ts";

/** How long an export goes on while its token cannot be looked up. @see A23 */
const MAX_FAILING_MS = 500;

/** The rows of an export, printed. */
export interface PrintedRows {
  readonly next: ExportSource["next"];
  readonly close: () => Promise<void>;
  /** Rows that were read so far. */
  readonly rows: () => number;
}

/**
 * Makes the source of an export's response. It ends early if the token ends or is changed, and its end
 * is observed.
 * @see EX8, EX20
 */
export function openExportSource(
  printed: PrintedRows,
  { trace, current, observe }: {
    readonly trace: Trace;
    readonly current: CurrentAccess;
    readonly observe: Observe;
  },
): ExportSource {
  const { exchange: { requestId }, table = "", access } = trace;
  const startedMs = performance.now();
  let bytes = 0;
  let error: unknown;
  const checkToken = checkBeside(current);

  async function next(spare?: Uint8Array<ArrayBuffer>) {
    try {
      const chunk = await printed.next(spare);
      checkToken();
      bytes += chunk?.length ?? 0;
      return chunk;
    } catch (thrown) {
      error = thrown;
      throw thrown;
    }
  }

  function close(result: ExportResult): void {
    void printed.close();
    observe({
      kind: "export",
      requestId,
      tokenId: access?.tokenId,
      tenant: access?.tenant,
      table,
      rows: printed.rows(),
      bytes,
      durationMs: Math.round(performance.now() - startedMs),
      result: result === "failed" ? describeFailure(error) : result,
      code: findDatabaseError(error)?.code,
    });
  }

  return { next, close };
}

/**
 * Makes a function that begins to look the token up, and throws once it allows no more. It does not wait:
 * the embedded Postgres has one session, which an export may hold until it ends.
 */
function checkBeside(current: CurrentAccess): () => void {
  let looking: Promise<void> | undefined;
  let obstacle: unknown;
  /** Since when the token cannot be looked up; undefined: it can be. */
  let failingSinceMs: number | undefined;

  /** A session that has just broken is no reason to cut off an export whose rows arrive. */
  function refuse(thrown: unknown): void {
    const nowMs = performance.now();
    failingSinceMs ??= nowMs;
    const isPassing = findDatabaseError(thrown) !== undefined &&
      nowMs - failingSinceMs < MAX_FAILING_MS;
    if (!isPassing) obstacle = thrown;
  }

  return () => {
    looking ??= checkWhenFree(current)
      .then(() => failingSinceMs = undefined, refuse)
      .then(() => looking = undefined);
    if (obstacle !== undefined) throw obstacle;
  };
}

function describeFailure(error: unknown): ExportEnd {
  const failure = findDatabaseError(error);
  if (failure === undefined) {
    return (error as { readonly status?: number }).status === 401 ? "revoked" : "failed";
  }
  return failure.kind === "timeout" ? "timeout" : "failed";
}
