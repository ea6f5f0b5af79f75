import type { Column } from "../catalogue/catalogue.ts";
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

/** Shapes that are gathered: their statements stay prepared, some 0.7 MB in every session. */
const MAX_SHAPES = 16;
/** Shapes that are watched for company: clients can think of any number. */
const MAX_WATCHED = 256;

/**
 * Answers look-ups by key that arrive at the same time with one statement: most of what one costs is
 * the way to Postgres and back.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function openLookUps(database: Database, observe: Observe): LookUp {
  const watched = new Map<string, Gathering>();
  const gathered = new Set<string>();

  /** The first shapes that have company are gathered; all others are asked alone. */
  function admits(shape: string): boolean {
    if (gathered.size < MAX_SHAPES) gathered.add(shape);
    return gathered.has(shape);
  }

  function watch(shape: string): Gathering {
    const [oldest] = watched.keys();
    if (watched.size >= MAX_WATCHED) watched.delete(oldest!);
    const askTogether: AskTogether<QueryPlan, PageRow> = async (plans, { sent, client }) => {
      if (!admits(shape)) return [];
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
    const made = openGathering(askTogether, MOST_LOOK_UPS);
    watched.set(shape, made);
    return made;
  }

  return ({ plan, key }, alone) => {
    const shape = describeShape(plan, key);
    return (watched.get(shape) ?? watch(shape))({ item: plan, alone });
  };
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
