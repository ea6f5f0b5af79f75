import type { Page } from "../api.ts";

const PAGE_SIZES = [10, 25, 50, 100, 200];

/** Says which rows of how many a page has: `26–50 of 1,500`. */
export function describeRange({ page, per_page, total, records }: Page): string {
  if (records.length === 0) return total ? `No rows on page ${page} of ${print(total)}` : "No rows";
  const first = (page - 1) * per_page + 1;
  const range = `${print(first)}–${print(first + records.length - 1)}`;
  return total === null ? range : `${range} of ${print(total)}`;
}

function print(count: number): string {
  return count.toLocaleString("en");
}

interface PagerProps {
  readonly page: Page;
  readonly durationMs: number;
  readonly busy: boolean;
  readonly onPage: (page: number) => void;
  readonly onSize: (perPage: number) => void;
}

/** The place of the page among all rows, and the way to the others. */
export function Pager({ page: shown, durationMs, busy, onPage, onSize }: PagerProps) {
  const { page, per_page, total } = shown;
  const last = Math.max(1, Math.ceil((total ?? 0) / per_page));
  const steps = [
    ["First", 1, page > 1, "«", "wide-only"],
    ["Previous", page - 1, page > 1, "‹", ""],
    ["Next", page + 1, page < last, "›", ""],
    ["Last", last, page < last, "»", "wide-only"],
  ] as const;
  return (
    <footer class="pager">
      <p role="status" class="row-count">{describeRange(shown)}</p>
      <span class="small muted wide-only duration">
        {Math.max(1, Math.round(durationMs)).toLocaleString("en")} ms
      </span>
      {shown.records.length > 0 && (
        <span class="small muted hint">Enter, or a second click, opens a cell</span>
      )}
      <nav class="line" aria-label="Pages">
        {steps.map(([label, target, possible, glyph, look]) => (
          <button
            key={label}
            type="button"
            class={look}
            aria-label={`${label} page`}
            aria-disabled={!possible || busy}
            onClick={() => possible && !busy && onPage(target)}
          >
            {glyph}
          </button>
        ))}
      </nav>
      <label class="line small">
        <span class="muted wide-only">rows per page</span>
        <select
          aria-label="Rows per page"
          value={per_page}
          onChange={(event) => onSize(Number(event.currentTarget.value))}
        >
          {[...new Set([...PAGE_SIZES, per_page])].sort((one, other) => one - other)
            .map((size) => <option key={size} value={size}>{size}</option>)}
        </select>
      </label>
    </footer>
  );
}
