import type { Field } from "./api.ts";

interface ColumnPickerProps {
  readonly fields: readonly Field[];
  /** Empty: all columns. */
  readonly select: readonly string[];
  readonly onChange: (select: readonly string[]) => void;
}

/** Picks the columns to return, in the order of the table. */
export function ColumnPicker({ fields, select, onChange }: ColumnPickerProps) {
  const toggle = (name: string) => {
    const chosen = fields.map((field) => field.name).filter((each) =>
      each === name ? !select.includes(each) : select.includes(each)
    );
    onChange(chosen);
  };
  return (
    <div class="chips" role="group" aria-label="Columns">
      <label class="chip">
        <input type="checkbox" checked={select.length === 0} onChange={() => onChange([])} />
        <span>all</span>
      </label>
      {fields.map(({ name }) => (
        <label class="chip" key={name}>
          <input type="checkbox" checked={select.includes(name)} onChange={() => toggle(name)} />
          <span>{name}</span>
        </label>
      ))}
    </div>
  );
}

/** One key of a sort. @see Q61 */
export interface SortItem {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

interface SortEditorProps {
  readonly fields: readonly Field[];
  readonly sort: readonly SortItem[];
  readonly onChange: (sort: readonly SortItem[]) => void;
}

/** Edits the sort, the most significant key first. */
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
            aria-label={`${field}, ${direction === "asc" ? "ascending" : "descending"}: reverse`}
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
        <option value="" disabled>{sort.length === 0 ? "unsorted" : "then by…"}</option>
        {free.map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
    </div>
  );
}
