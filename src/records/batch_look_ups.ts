import type { Column } from "../catalogue/catalogue.ts";
import type { QueryPlan } from "./plan/query_plan.ts";
import { findTenant } from "./plan/scope.ts";
import type { Database } from "../database/postgres/database.ts";
import { compileLookUps, type FoundRow, MAX_LOOK_UPS, TOO_LARGE } from "./sql/look_ups.ts";
import type { PageRow } from "./sql/query.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { openFairCache } from "../database/postgres/fair_cache.ts";
import { type Batcher, type BatchRun, openBatcher, repeatAlone } from "./batch.ts";

/** Reads the one row that a plan finds by its key; `runAlone` does so in a statement of its own. */
export type LookUp = (
  wanted: { readonly plan: QueryPlan; readonly key: readonly Column[] },
  runAlone: () => Promise<PageRow>,
) => Promise<PageRow>;

/**
 * Shapes of look-up that are batched. Their prepared statements take memory in each session.
 */
const MAX_SHAPES = 16;
/** A batch without a result after this time is abandoned. */
const LATE_MS = 250;

/**
 * Batches look-ups by key: those that arrive in the same tick become one statement, because most of
 * the cost of a look-up is its round trip. Only the most recently used shapes are batched, and each
 * tenant has a share of them.
 * @see docs/decisions/0022-by-key.md
 */
export function batchLookUps(database: Database, observe: Observe): LookUp {
  const shapes = openFairCache<Batcher<QueryPlan, PageRow>>(MAX_SHAPES);

  async function find(plans: readonly QueryPlan[], run: BatchRun): Promise<FoundRow[]> {
    observe({ kind: "batch", operation: "query_records", requests: plans.length });
    return await database.run((sql) => {
      run.sent();
      return compileLookUps(sql, plans);
    }, { write: false, brief: true, tenant: findTenant(plans), client: run.client });
  }

  function findEach(plans: readonly QueryPlan[], run: BatchRun): FoundPage[] {
    const rows = untilAborted(find(plans, run), run);
    return plans.map((plan, place) => rows.then((found) => readRow(plan, found?.[place], place)));
  }

  const openShape = () =>
    openBatcher<QueryPlan, PageRow>(
      (plans, run) =>
        plans[0]!.table.isSpread === true
          ? findByTenant(plans, (some) => findEach(some, run))
          : findEach(plans, run),
      { maxItems: MAX_LOOK_UPS, lateMs: LATE_MS },
    );

  return ({ plan, key }, runAlone) => {
    const { tenant } = plan.scope;
    const name = describeShape(plan, key);
    let batcher = shapes.get(name, tenant);
    if (batcher === undefined) shapes.add(name, batcher = openShape(), tenant);
    return batcher({ item: plan, tenant, runAlone });
  };
}

type FoundPage = Promise<PageRow | undefined>;

/**
 * Batches each tenant by itself: one statement for all tenants would read from their servers in turn.
 * @see M25
 */
function findByTenant(
  plans: readonly QueryPlan[],
  find: (plans: readonly QueryPlan[]) => readonly FoundPage[],
): readonly FoundPage[] {
  const pages = new Map<QueryPlan, FoundPage>();
  for (const tenant of new Set(plans.map(({ scope }) => scope.tenant))) {
    const some = plans.filter(({ scope }) => scope.tenant === tenant);
    find(some).forEach((page, place) => pages.set(some[place]!, page));
  }
  return plans.map((plan) => pages.get(plan)!);
}

/**
 * Resolves to undefined once it is late: a read may be repeated while the first one is still running.
 */
function untilAborted(
  rows: Promise<FoundRow[]>,
  { client }: BatchRun,
): Promise<FoundRow[] | undefined> {
  return new Promise((resolve, reject) => {
    client.signal.addEventListener("abort", () => resolve(undefined));
    rows.catch(repeatAlone).then(resolve, reject);
  });
}

/**
 * Returns the same text for look-ups of the same shape. U+0000 separates names, as none can contain
 * it.
 */
function describeShape(
  { table, columns, wideNumbersAsText }: QueryPlan,
  key: readonly Column[],
): string {
  return [table.name, nameAll(key), nameAll(columns), wideNumbersAsText].join("\0");
}

function nameAll(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join();
}

/**
 * Undefined for a look-up that has to run alone: its record is too large, or missing from the result.
 */
function readRow(
  { count }: QueryPlan,
  row: FoundRow | undefined,
  place: number,
): PageRow | undefined {
  if (row?.column1 !== String(place) || row.column2 === TOO_LARGE) return undefined;
  const rows = row.column2 === null ? "0" : "1";
  return { total: count ? rows : null, rows, records: `[${row.column2 ?? ""}]` };
}
