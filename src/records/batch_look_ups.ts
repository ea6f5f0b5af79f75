import type { Column } from "../catalogue/catalogue.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { findTenant } from "../plan/scope.ts";
import type { Database } from "../postgres/database.ts";
import { compileLookUps, type FoundRow, MAX_LOOK_UPS, TOO_LARGE } from "../sql/look_ups.ts";
import type { PageRow } from "../sql/query.ts";
import type { Observe } from "../telemetry/observe.ts";
import { type BatchRun, openBatcher, openBatchers, repeatAlone } from "./batch.ts";

/** Reads the one row that a plan finds by its key; `runAlone` does so in a statement of its own. */
export type LookUp = (
  wanted: { readonly plan: QueryPlan; readonly key: readonly Column[] },
  runAlone: () => Promise<PageRow>,
) => Promise<PageRow>;

/** Shapes of look-up that are batched. Their statements stay prepared, some 0.7 MB in each session. */
const MAX_SHAPES = 16;
const RUN_ALONE = Promise.resolve(undefined);

/**
 * Batches look-ups by key: those that arrive in the same tick are read by one statement, since most
 * of what one costs is the round trip to Postgres.
 * @see docs/decisions/0022-batched-look-ups.md
 */
export function batchLookUps(database: Database, observe: Observe): LookUp {
  const batchedShapes = new Set<string>();

  /** The first shapes that arrive together are batched, all others run alone. */
  function admits(shape: string): boolean {
    if (batchedShapes.size < MAX_SHAPES) batchedShapes.add(shape);
    return batchedShapes.has(shape);
  }

  async function find(plans: readonly QueryPlan[], run: BatchRun): Promise<FoundRow[]> {
    observe({ kind: "batch", operation: "query_records", requests: plans.length });
    return await database.run((sql) => {
      run.sent();
      return compileLookUps(sql, plans);
    }, { write: false, brief: true, tenant: findTenant(plans), client: run.client });
  }

  const batcherOf = openBatchers<QueryPlan, PageRow>((shape) =>
    openBatcher((plans, run) => {
      const rows = admits(shape) ? untilAborted(find(plans, run), run) : RUN_ALONE;
      return plans.map((plan, place) => rows.then((found) => readRow(plan, found?.[place], place)));
    }, { maxItems: MAX_LOOK_UPS })
  );

  return ({ plan, key }, runAlone) => batcherOf(describeShape(plan, key))({ item: plan, runAlone });
}

/** Undefined once it is late: a read may be repeated while the first one is still on its way. */
function untilAborted(
  rows: Promise<FoundRow[]>,
  { client }: BatchRun,
): Promise<FoundRow[] | undefined> {
  return new Promise((resolve, reject) => {
    client.signal.addEventListener("abort", () => resolve(undefined));
    rows.catch(repeatAlone).then(resolve, reject);
  });
}

/** Look-ups of the same shape have the same text; no name of Postgres holds U+0000. */
function describeShape(
  { table, columns, wideNumbersAsText }: QueryPlan,
  key: readonly Column[],
): string {
  return [table.name, nameAll(key), nameAll(columns), wideNumbersAsText].join("\0");
}

function nameAll(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join();
}

/** Undefined for a look-up that has to run alone: its record is too large, or not at its place. */
function readRow(
  { count }: QueryPlan,
  row: FoundRow | undefined,
  place: number,
): PageRow | undefined {
  if (row?.column1 !== String(place) || row.column2 === TOO_LARGE) return undefined;
  const rows = row.column2 === null ? "0" : "1";
  return { total: count ? rows : null, rows, records: `[${row.column2 ?? ""}]` };
}
