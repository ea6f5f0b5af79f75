import { ApiError } from "../basics/errors/api_error.ts";
import type { ExportPlaces } from "./export_places.ts";
import { rejectIssues } from "../basics/errors/issue.ts";
import { exportedAs, type ExportPlan } from "./plan/export_plan.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { RowStream } from "../database/postgres/database.ts";
import type { Others } from "../database/postgres/pace.ts";
import { onNextTick } from "../server/runtime/timers.ts";
import { compileExport, RECORD_TOO_LARGE } from "./sql/export.ts";
import { compileSetStep } from "./sql/settings.ts";
import { CHUNK_BYTES, openByteWriter, reuseBytes, takeBytes } from "./byte_writer.ts";
import { locateValues } from "./locate_values.ts";
import { printCsv } from "./print_csv.ts";
import { printJsonLines, type RowPrinter } from "./print_json_lines.ts";
import type { Run } from "./run.ts";

/** The rows of an export, printed. */
export interface ExportedRows {
  /**
   * Returns the next chunk; undefined after the last row. Postgres waits for the next call once a few
   * chunks are buffered. `spare` is an earlier chunk, which may be overwritten.
   * @throws {ApiError} 400 a record is too large
   * @throws {DatabaseError}
   */
  readonly next: (
    spare?: Uint8Array<ArrayBuffer>,
  ) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Ends the export early; resolves when Postgres no longer works on it. */
  readonly close: () => Promise<void>;
  /** Rows that were read so far. */
  readonly rows: () => number;
}

/** Bytes that are buffered for a client that is slower than Postgres. */
const AHEAD_BYTES = 4 * CHUNK_BYTES;
/** Size at which a chunk is complete; the rest of `CHUNK_BYTES` is room for the row that crosses it. */
const FULL_BYTES = CHUNK_BYTES - 4096;

/**
 * Opens an export, and waits for its first rows, so that an error of the whole export has a status.
 * @throws {ApiError} 400 a value that Postgres rejects, or a first record that is too large
 * @throws {DatabaseError}
 */
export async function exportRows(
  run: Run,
  plan: ExportPlan,
  { document, places, others }: {
    readonly document: unknown;
    readonly places: ExportPlaces;
    /** The requests that an export gives way to. */
    readonly others: Others;
  },
): Promise<ExportedRows> {
  const { client, tenant } = run.requester;
  const leave = places.enter(tenant);
  const rows = await openCheckedRows(run, plan, { document, others }).catch((error) => {
    leave();
    throw error;
  });
  void rows.closed.then(leave);
  const abort = () => void rows.close();
  try {
    client.signal.addEventListener("abort", abort);
    if (client.signal.aborted) abort();
    await rows.ready();
    return rows;
  } catch (error) {
    // Its place must be free before the export is tried again.
    await rows.close();
    throw error;
  } finally {
    client.signal.removeEventListener("abort", abort);
  }
}

async function openCheckedRows(
  run: Run,
  plan: ExportPlan,
  { document, others }: { readonly document: unknown; readonly others: Others },
): Promise<OpenRows> {
  const issues = await locateValues(run, plan);
  if (issues.length > 0) throw rejectIssues(issues, document, { stale: true });
  return await openRows(run, plan, others);
}

function makePrinter(plan: ExportPlan): RowPrinter {
  const columns = plan.columns.map((column) => ({
    name: column.name,
    as: exportedAs(column, plan),
  }));
  return plan.format === "csv" ? printCsv(columns) : printJsonLines(columns);
}

/** An export that can be awaited until its first rows. */
type OpenRows = ExportedRows & {
  readonly ready: () => Promise<void>;
  /** Resolves when Postgres no longer works on it. */
  readonly closed: Promise<void>;
};

async function openRows(
  { database, settings, requester: { tenant } }: Run,
  plan: ExportPlan,
  others: Others,
): Promise<OpenRows> {
  const printer = makePrinter(plan);
  const writer = openByteWriter();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let held = 0;
  let waiting: (() => void) | undefined;
  let flushing = false;
  let isPaused = false;
  let isEnded = false;
  let failure: unknown;
  let rows = 0;
  printer.begin(writer);

  const stream: RowStream = await database.stream((sql) => compileExport(sql, plan), {
    tenant,
    steps: settings.length === 0 ? [] : [(sql) => compileSetStep(sql, settings)],
    others,
    onRow(row, start) {
      rows++;
      printer.add(writer, row, start);
      if (writer.at >= FULL_BYTES) push();
      else if (waiting !== undefined && !flushing) {
        flushing = true;
        onNextTick(flush);
      }
    },
  });
  stream.ended.then(() => end(undefined), end);

  function push(): void {
    const bytes = takeBytes(writer);
    if (bytes === undefined) return;
    chunks.push(bytes);
    held += bytes.length;
    wake();
    if (isPaused || held < AHEAD_BYTES) return;
    isPaused = true;
    stream.pause();
  }

  /** Sends a waiting client the rows so far, although the chunk has room for more. */
  function flush(): void {
    flushing = false;
    if (waiting !== undefined) push();
  }

  function end(error: unknown): void {
    isEnded = true;
    failure = error && explainSize(error, plan);
    if (error === undefined && plan.countAtEnd) printer.end(writer, rows);
    push();
    wake();
  }

  function wake(): void {
    waiting?.();
    waiting = undefined;
  }

  async function ready(): Promise<void> {
    if (chunks.length === 0 && !isEnded) {
      await new Promise<void>((resolve) => waiting = resolve);
    }
    if (failure !== undefined) throw failure;
  }

  async function next(spare?: Uint8Array<ArrayBuffer>) {
    if (spare !== undefined) reuseBytes(writer, spare);
    await ready();
    const chunk = chunks.shift();
    held -= chunk?.length ?? 0;
    if (isPaused && held <= AHEAD_BYTES / 2) {
      isPaused = false;
      stream.resume();
    }
    return chunk;
  }

  function close(): Promise<void> {
    chunks.length = held = 0;
    stream.cancel();
    return stream.closed;
  }

  return { next, close, ready, closed: stream.closed, rows: () => rows };
}

function explainSize(error: unknown, { maxRecordBytes }: ExportPlan): unknown {
  if (!(error instanceof DatabaseError) || error.code !== RECORD_TOO_LARGE || error.inFunction) {
    return error;
  }
  const message = `select: A record is larger than ${maxRecordBytes} bytes, expected fewer fields`;
  return new ApiError(400, message, { cause: error });
}
