import type { Field } from "./field.ts";

interface ColumnPickerProps {
  readonly fields: readonly Field[];
  /** Empty: all. */
  readonly select: readonly string[];
  readonly onChange: (select: readonly string[]) => void;
}

/** Which columns to return, in the order of the table. */
export function ColumnPicker({ fields, select, onChange }: ColumnPickerProps) {
  const toggle = (name: string) => {
    const chosen = fields.map((field) => field.name).filter((one) =>
      one === name ? !select.includes(one) : select.includes(one)
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
