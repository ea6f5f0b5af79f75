import type { Outcome } from "./ask.ts";
import type { Field } from "./field.ts";
import type { Finding } from "./finding.ts";
import { Refusal } from "./refusal.tsx";
import { type Row, RowsTable } from "./rows_table.tsx";
import type { SortItem } from "./sort_editor.tsx";

/** A page of rows. @see Q80 */
export interface Page {
  readonly page: number;
  readonly per_page: number;
  readonly total: number | null;
  readonly records: readonly Row[];
}

interface QueryResultProps {
  readonly outcome: Outcome<Page> | undefined;
  readonly busy: boolean;
  /** Those that belong to no condition on the screen. */
  readonly findings: readonly Finding[];
  /** True when a condition shows what is wrong with it. */
  readonly placed: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  readonly sort: readonly SortItem[];
  readonly primaryKey: readonly string[];
  readonly onSort: (field: string) => void;
  readonly onPage: (page: number) => void;
  readonly onEdit: ((row: Row) => void) | undefined;
}

/** What came of a query: rows, how many there are in all, the time it took; or why not. */
export function QueryResult(props: QueryResultProps) {
  const { outcome, busy, findings, placed, fields, sort, primaryKey } = props;
  const page = outcome?.body;
  const editable = page?.records[0] !== undefined &&
    primaryKey.every((name) => Object.hasOwn(page.records[0]!, name));
  return (
    <section class="result" aria-label="Rows" aria-busy={busy}>
      <p role="status" class="figures">{page && describePage(page, outcome!.durationMs)}</p>
      {outcome !== undefined && page === undefined && (
        <Refusal outcome={outcome} findings={findings} placed={placed} />
      )}
      {page !== undefined && page.records.length > 0 && (
        <RowsTable
          label="Rows of the page"
          rows={page.records}
          {...{ fields, sort }}
          onSort={props.onSort}
          onEdit={editable ? props.onEdit : undefined}
        />
      )}
      {page !== undefined && <Pager page={page} busy={busy} onPage={props.onPage} />}
    </section>
  );
}

function describePage({ total, records }: Page, durationMs: number): string {
  const shown = records.length === 1 ? "1 row" : `${records.length} rows`;
  const all = total === null ? "" : ` of ${total.toLocaleString("en")}`;
  return `${shown}${all} · ${Math.max(1, Math.round(durationMs)).toLocaleString("en")} ms`;
}

interface PagerProps {
  readonly page: Page;
  readonly busy: boolean;
  readonly onPage: (page: number) => void;
}

function Pager({ page: { page, per_page, total }, busy, onPage }: PagerProps) {
  const last = Math.max(1, Math.ceil((total ?? 0) / per_page));
  if (last === 1 && page === 1) return null;
  const steps = [
    ["First", 1, page > 1],
    ["Previous", page - 1, page > 1],
    ["Next", page + 1, page < last],
    ["Last", last, page < last],
  ] as const;
  return (
    <nav class="line pager" aria-label="Pages">
      {steps.map(([label, to, possible], at) => (
        <>
          {at === 2 && <span key="page">page {page} of {last.toLocaleString("en")}</span>}
          <button
            key={label}
            type="button"
            class={label === "First" || label === "Last" ? "wide-only" : ""}
            aria-disabled={!possible || busy}
            onClick={() => possible && !busy && onPage(to)}
          >
            {label}
          </button>
        </>
      ))}
    </nav>
  );
}
