import { writeExact } from "../../describe/reference/exact_json.ts";
import type { Row } from "../api.ts";
import { printValue } from "../browse/cell_text.ts";

interface RowPreviewProps {
  /** As it is in the database now. */
  readonly row: Row;
  /** The row from which the edits started. */
  readonly base: Row;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly updated: number;
}

/** What an update of one row would change: each touched field before and after. */
export function RowPreview({ row, base, changes, updated }: RowPreviewProps) {
  const moved = Object.keys(changes).filter((name) =>
    writeExact(row[name]) !== writeExact(base[name])
  );
  return (
    <section class="row-preview" aria-label="Preview">
      <p role="status">
        {updated === 0
          ? "Nothing would change: the row has these values already."
          : "This would change. Nothing has been changed yet."}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(changes).map(([name, after]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <del>{printValue(row[name])}</del>
              </td>
              <td class="changed">
                <ins>{printValue(after)}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {moved.length > 0 && (
        <p class="problem">
          Changed by another client since this row was opened: {moved.join(", ")}
        </p>
      )}
    </section>
  );
}
