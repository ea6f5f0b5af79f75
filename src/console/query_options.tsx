import { useState } from "preact/hooks";
import type { Field } from "./api.ts";
import { focusAround } from "./frame/focus.ts";

interface ColumnPickerProps {
  readonly fields: readonly Field[];
  /** Empty: all columns. */
  readonly select: readonly string[];
  /** Those that cannot be left out. */
  readonly required?: readonly string[];
  readonly onChange: (select: readonly string[]) => void;
}

/** With fewer columns, all are seen at once. */
const MIN_SEARCHED = 12;

/** Picks the columns to return, in the order of the table. */
export function ColumnPicker({ fields, select, required = [], onChange }: ColumnPickerProps) {
  const [text, setText] = useState("");
  const isShown = (name: string) =>
    select.length === 0 || select.includes(name) || required.includes(name);
  const toggle = (name: string) => {
    const chosen = fields.map((field) => field.name)
      .filter((each) => each === name ? !isShown(each) : isShown(each));
    onChange(chosen.length === fields.length ? [] : chosen);
  };
  const found = fields.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <div class="column-picker">
      {fields.length >= MIN_SEARCHED && (
        <input
          type="search"
          aria-label="Find a column"
          placeholder="Find a column"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <div class="options" role="group" aria-label="Columns">
        <label class="option">
          <input
            type="checkbox"
            checked={select.length === 0}
            onChange={() => onChange(select.length > 0 ? [] : fields.slice(0, 1).map(nameOf))}
          />
          <span>all</span>
        </label>
        {found.map(({ name, type }) => (
          <label class="option" key={name}>
            <input
              type="checkbox"
              checked={isShown(name)}
              disabled={required.includes(name)}
              onChange={() => toggle(name)}
            />
            <span class="grow">{name}</span>
            <span class="type" aria-hidden="true">{required.includes(name) ? "key" : type}</span>
          </label>
        ))}
      </div>
    </div>
  );
}

function nameOf({ name }: Field): string {
  return name;
}

/** One key of a sort. @see Q61 */
export interface SortItem {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

interface SortEditorProps {
  readonly fields: readonly Field[];
  readonly sort: readonly SortItem[];
  /** What orders the rows while nothing is chosen. */
  readonly otherwise: string;
  readonly onChange: (sort: readonly SortItem[]) => void;
}

/** Edits the sort, the most significant key first. */
export function SortEditor({ fields, sort, otherwise, onChange }: SortEditorProps) {
  const free = fields.filter(({ name, operators }) =>
    operators.includes("lt") && sort.every(({ field }) => field !== name)
  );
  return (
    <div class="sort-editor">
      {sort.length === 0 && <p class="small muted">Sorted {otherwise}</p>}
      {sort.map(({ field, direction }, at) => (
        <div class="line sort-item" key={field}>
          <span class="grow">{field}</span>
          <button
            type="button"
            aria-label={`${field}, ${direction === "asc" ? "ascending" : "descending"}: reverse`}
            onClick={() =>
              onChange(
                sort.with(at, { field, direction: direction === "asc" ? "desc" : "asc" }),
              )}
          >
            {direction === "asc" ? "↑ ascending" : "↓ descending"}
          </button>
          <button
            type="button"
            class="quiet"
            aria-label={`Do not sort by ${field}`}
            onClick={({ currentTarget }) => {
              focusAround(currentTarget.closest(".sort-editor"), ":scope > select");
              onChange(sort.toSpliced(at, 1));
            }}
          >
            ✕
          </button>
        </div>
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
        <option value="" disabled>{sort.length === 0 ? "Sort by…" : "Then by…"}</option>
        {free.map(({ name }) => <option key={name} value={name}>{name}</option>)}
      </select>
    </div>
  );
}
