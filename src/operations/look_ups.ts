import type { Column, Table } from "../catalogue/catalogue.ts";
import type { Database } from "../database/database.ts";
import { type AskTogether, openGathering } from "../gather.ts";
import type { Observe } from "../observe.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileLookUps, type FoundRow, MOST_LOOK_UPS, TOO_LARGE } from "../sql/look_up.ts";
import type { PageRow } from "../sql/select.ts";
import { failureOf } from "./call.ts";

/** Finds the one row that a plan looks up by its key; `alone` asks in a statement of its own. */
export type LookUp = (
  wanted: { readonly plan: QueryPlan; readonly key: readonly Column[] },
  alone: () => Promise<PageRow>,
) => Promise<PageRow>;

type Gathering = ReturnType<typeof openGathering<QueryPlan, PageRow>>;

/** Shapes of look-ups in one table that are remembered: clients can think of any number. */
const MAX_SHAPES = 64;

/**
 * Answers look-ups by key that arrive at the same time with one statement: most of what one costs is
 * the way to Postgres and back.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function openLookUps(database: Database, observe: Observe): LookUp {
  const tables = new WeakMap<Table, Map<string, Gathering>>();

  /** The oldest shape makes room for a new one. */
  function findGathering(
    { table, columns, wideNumbersAsText }: QueryPlan,
    key: readonly Column[],
  ): Gathering {
    const shapes = tables.get(table) ?? new Map<string, Gathering>();
    if (shapes.size === 0) tables.set(table, shapes);
    const shape = `${nameAll(key)} ${nameAll(columns)} ${wideNumbersAsText}`;
    const found = shapes.get(shape);
    if (found !== undefined) return found;
    if (shapes.size >= MAX_SHAPES) shapes.delete(shapes.keys().next().value!);
    const made = openGathering(askTogether, MOST_LOOK_UPS);
    shapes.set(shape, made);
    return made;
  }

  const askTogether: AskTogether<QueryPlan, PageRow> = async (plans, { sent, client }) => {
    observe({ kind: "gathered", lookUps: plans.length });
    try {
      const rows = await database.run((sql) => {
        sent();
        return compileLookUps(sql, plans);
      }, { write: false, client });
      return plans.map((plan, place) => readRow(plan, rows[place], place));
    } catch (error) {
      // Where there is no database for one statement there is none for many.
      if (failureOf(error)?.kind === "unavailable") throw error;
      return [];
    }
  };

  return ({ plan, key }, alone) => findGathering(plan, key)({ item: plan, alone });
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
