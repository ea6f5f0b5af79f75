import type { Field } from "./field.ts";

/** One key of the order. @see Q61 */
export interface SortItem {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

interface SortEditorProps {
  readonly fields: readonly Field[];
  readonly sort: readonly SortItem[];
  readonly onChange: (sort: readonly SortItem[]) => void;
}

/** The order of the rows, the first key before the second. */
export function SortEditor({ fields, sort, onChange }: SortEditorProps) {
  const free = fields.filter(({ name, operators }) =>
    operators.includes("lt") && sort.every(({ field }) => field !== name)
  );
  return (
    <div class="chips">
      {sort.map(({ field, direction }, at) => (
        <span class="chip" key={field}>
          <button
            type="button"
            class="quiet"
            aria-label={`${field}, ${direction === "asc" ? "ascending" : "descending"}: turn round`}
            onClick={() =>
              onChange(
                sort.with(at, { field, direction: direction === "asc" ? "desc" : "asc" }),
              )}
          >
            {field} {direction === "asc" ? "↑" : "↓"}
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Do not sort by ${field}`}
            onClick={() => onChange(sort.toSpliced(at, 1))}
          >
            ✕
          </button>
        </span>
      ))}
      <select
        aria-label="Sort by"
        value=""
        onChange={(event) => {
          const field = event.currentTarget.value;
          event.currentTarget.value = "";
          onChange([...sort, { field, direction: "asc" }]);
        }}
      >
        <option value="" disabled>{sort.length === 0 ? "no order" : "then by…"}</option>
        {free.map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
    </div>
  );
}
