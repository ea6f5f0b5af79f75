import type { Field } from "./field.ts";
import type { Preview } from "./preview.ts";
import { RowsTable } from "./rows_table.tsx";

interface UpdatePreviewProps {
  readonly preview: Preview;
  readonly fields: readonly Field[];
  readonly busy: boolean;
  readonly onSend: () => void;
}

/** What the update would do: how many rows match, how many change, the first of them as they are. */
export function UpdatePreview({ preview, fields, busy, onSend }: UpdatePreviewProps) {
  const { outcome, matched, page } = preview;
  const updated = outcome.body?.updated;
  const figures = [
    [
      matched === undefined ? "?" : matched.toLocaleString("en"),
      matched === 1 ? "matches" : "match",
    ],
    [updated === undefined ? "–" : updated.toLocaleString("en"), "would change"],
  ];
  return (
    <section class="panel preview" aria-label="Preview">
      <div class="line figures-large" role="status">
        {figures.map(([figure, label]) => (
          <span key={label}>
            <b>{figure}</b> <span class="muted">{label}</span>
          </span>
        ))}
        {updated !== undefined && (
          <button type="button" class="danger" disabled={busy} onClick={onSend}>
            {updated === 1 ? "Change 1 row" : `Change ${updated.toLocaleString("en")} rows`}
          </button>
        )}
      </div>
      {page !== undefined && page.records.length > 0 && (
        <>
          <p class="small muted">
            {matched !== page.records.length && `The first ${page.records.length} that match, `}
            {matched !== page.records.length ? "as they are now" : "As they are now"}
          </p>
          <RowsTable
            label="Rows that match"
            rows={page.records}
            fields={new Map(fields.map((field) => [field.name, field]))}
          />
        </>
      )}
    </section>
  );
}
