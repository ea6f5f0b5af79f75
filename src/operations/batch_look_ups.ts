import type { Column } from "../catalogue/catalogue.ts";
import type { Database } from "../postgres/database.ts";
import { type Errand, openGathering, openGatherings } from "./batch.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileLookUps, type FoundRow, MOST_LOOK_UPS, TOO_LARGE } from "../sql/look_ups.ts";
import type { PageRow } from "../sql/query.ts";
import { askAgain } from "./ask_again.ts";
import { findShare } from "./find_share.ts";

/** Finds the one row that a plan looks up by its key; `alone` asks in a statement of its own. */
export type LookUp = (
  wanted: { readonly plan: QueryPlan; readonly key: readonly Column[] },
  alone: () => Promise<PageRow>,
) => Promise<PageRow>;

/** Shapes that are gathered: their statements stay prepared, some 0.7 MB in every session. */
const MAX_SHAPES = 16;
const NOTHING = Promise.resolve(undefined);

/**
 * Answers look-ups by key that arrive at the same time with one statement: most of what one costs is
 * the way to Postgres and back.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function openLookUps(database: Database, observe: Observe): LookUp {
  const gathered = new Set<string>();

  /** The first shapes that have company are gathered; all others are asked alone. */
  function admits(shape: string): boolean {
    if (gathered.size < MAX_SHAPES) gathered.add(shape);
    return gathered.has(shape);
  }

  async function find(plans: readonly QueryPlan[], { sent, client }: Errand): Promise<FoundRow[]> {
    observe({ kind: "batch", operation: "query_records", requests: plans.length });
    return await database.run((sql) => {
      sent();
      return compileLookUps(sql, plans);
    }, { write: false, share: findShare(plans), client });
  }

  const gather = openGatherings<QueryPlan, PageRow>((shape) =>
    openGathering((plans, errand) => {
      const rows = admits(shape) ? untilAborted(find(plans, errand), errand) : NOTHING;
      return plans.map((plan, place) => rows.then((found) => readRow(plan, found?.[place], place)));
    }, { most: MOST_LOOK_UPS })
  );

  return ({ plan, key }, alone) => gather(describeShape(plan, key))({ item: plan, alone });
}

/** Undefined once it is late: what only reads may be asked again while it is still on its way. */
function untilAborted(
  rows: Promise<FoundRow[]>,
  { client }: Errand,
): Promise<FoundRow[] | undefined> {
  return new Promise((resolve, reject) => {
    client.signal.addEventListener("abort", () => resolve(undefined));
    rows.catch(askAgain).then(resolve, reject);
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

/** Undefined for what has to be asked alone: a record that is too large, or not at its place. */
function readRow(
  { count }: QueryPlan,
  row: FoundRow | undefined,
  place: number,
): PageRow | undefined {
  if (row?.column1 !== String(place) || row.column2 === TOO_LARGE) return undefined;
  const rows = row.column2 === null ? "0" : "1";
  return { total: count ? rows : null, rows, records: `[${row.column2 ?? ""}]` };
}
