import type { Field, Row } from "../api.ts";
import { type ColumnValue, writeColumnValues } from "../column_values.tsx";
import { countRows, RowsTable } from "../rows.tsx";
import { isChanged } from "./row_edits.ts";
import type { Preview } from "./send_update.ts";

interface UpdatePreviewProps {
  readonly preview: Preview;
  readonly fields: readonly Field[];
  readonly values: readonly ColumnValue[];
  readonly primaryKey: readonly string[];
  readonly busy: boolean;
  readonly onSend: () => void;
}

/** How many rows an update matches and would change, and the first of them before and after. */
export function UpdatePreview(props: UpdatePreviewProps) {
  const { preview, fields, values, primaryKey, busy, onSend } = props;
  const { response, matched, page } = preview;
  const updated = response.body?.updated;
  const counts = [
    [matched, matched === 1 ? "matches" : "match"],
    [updated, "would change"],
  ] as const;
  const rows = page?.records ?? [];
  const changes = writeColumnValues(values, { member: "fields", fields });
  // The touched columns stand beside the key, where they are seen without scrolling.
  const first = [...new Set([...primaryKey, ...Object.keys(changes)])];
  return (
    <section class="preview" aria-label="Preview">
      <div class="line counts" role="status">
        {counts.map(([count, label]) =>
          count !== undefined && (
            <span key={label}>
              <b>{count.toLocaleString("en")}</b> <span class="muted">{label}</span>
            </span>
          )
        )}
        {updated !== undefined && updated > 0 && (
          <button type="button" class="danger" disabled={busy} onClick={onSend}>
            Change {countRows(updated)}
          </button>
        )}
      </div>
      {rows.length > 0 && (
        <>
          <p class="small muted">
            {matched === rows.length ? "All that match" : `The first ${rows.length} that match`}
            {updated !== undefined && ", before → after"}
          </p>
          <RowsTable
            label="Rows that match"
            rows={rows.map((row) => arrange(row, first))}
            fields={new Map(fields.map((field) => [field.name, field]))}
            {...(response.body !== undefined && { after: rows.map(() => changes) })}
          />
        </>
      )}
    </section>
  );
}

interface UpdatedRowsProps {
  readonly before: readonly Row[];
  readonly after: readonly Row[];
  readonly fields: readonly Field[];
}

/** Rows that were read again after an update, with what changed in them, also by triggers. */
export function UpdatedRows({ before, after, fields }: UpdatedRowsProps) {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const changed = fields.map(({ name }) => name).filter((name) =>
    before.some((row, at) => isChanged(row[name], after[at]?.[name], byName.get(name)!.type))
  );
  const keys = fields.filter(({ primary_key }) => primary_key).map(({ name }) => name);
  return (
    <section class="updated" aria-label="Rows after the update">
      <p class="small muted">As the rows are now</p>
      <RowsTable
        label="Rows after the update"
        rows={before.map((row) => arrange(row, [...new Set([...keys, ...changed])]))}
        fields={byName}
        after={after}
      />
    </section>
  );
}

function arrange(row: Row, first: readonly string[]): Row {
  const { ...rest } = row;
  return { ...Object.fromEntries(first.map((name) => [name, row[name]])), ...rest };
}
