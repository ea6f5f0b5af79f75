import { type Field, isNumber } from "./field.ts";
import type { SortItem } from "./sort_editor.tsx";

/** One row as it came. */
export type Row = Readonly<Record<string, unknown>>;

interface RowsTableProps {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly fields: ReadonlyMap<string, Field>;
  readonly sort?: readonly SortItem[];
  readonly onSort?: (field: string) => void;
  /** What can be done with a row. */
  readonly onEdit?: ((row: Row) => void) | undefined;
}

/** Rows with the types of their columns; NULL, empty text and values told apart. */
export function RowsTable({ label, rows, fields, sort = [], onSort, onEdit }: RowsTableProps) {
  const names = Object.keys(rows[0] ?? {});
  const directionOf = (name: string) => sort.find(({ field }) => field === name)?.direction;
  return (
    <div class="scroll rows" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {names.map((name) => {
              const type = fields.get(name)?.type ?? "";
              const direction = directionOf(name);
              const mark = direction === undefined ? "" : direction === "asc" ? " ↑" : " ↓";
              return (
                <th
                  key={name}
                  scope="col"
                  class={isNumber(type) ? "number" : ""}
                  aria-sort={direction && (direction === "asc" ? "ascending" : "descending")}
                >
                  {onSort !== undefined && fields.get(name)?.operators.includes("lt")
                    ? (
                      <button type="button" class="quiet" onClick={() => onSort(name)}>
                        {name}
                        {mark}
                      </button>
                    )
                    : <span class="name">{name}</span>}
                  <span class="type">{type}</span>
                </th>
              );
            })}
            {onEdit !== undefined && (
              <th scope="col">
                <span class="hidden">Update</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {names.map((name) => (
                <Cell key={name} value={row[name]} type={fields.get(name)?.type ?? ""} />
              ))}
              {onEdit !== undefined && (
                <td>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Update row ${at + 1}`}
                    onClick={() => onEdit(row)}
                  >
                    Update
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value, type }: { readonly value: unknown; readonly type: string }) {
  if (value === null) {
    return (
      <td class={isNumber(type) ? "number" : ""}>
        <span class="null">NULL</span>
      </td>
    );
  }
  if (value === "") {
    return (
      <td>
        <span class="null">empty text</span>
      </td>
    );
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const kind = isNumber(type) ? "number" : typeof value === "string" ? "text" : "json";
  return <td class={kind} title={text.length > 40 ? text : undefined}>{text}</td>;
}
