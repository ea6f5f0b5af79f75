import type { Field } from "./api.ts";
import { exampleOf } from "./value.ts";

interface ValueInputProps {
  /** Undefined: a pattern, for which any text will do. */
  readonly field: Field | undefined;
  readonly value: string;
  readonly label: string;
  readonly invalid?: boolean;
  /** Id of the element that says why the value is invalid. */
  readonly describedBy?: string | undefined;
  readonly disabled?: boolean;
  readonly onChange: (value: string) => void;
  /** Called when several values are pasted at once. */
  readonly onPasteMany?: (values: readonly string[]) => void;
}

/** An input for one value, by the type of its column: a choice of labels or booleans, a date, or text. */
export function ValueInput(props: ValueInputProps) {
  const { field, value, label, invalid, describedBy, disabled, onChange, onPasteMany } = props;
  const choices = field?.enum ?? (field?.type === "bool" ? ["true", "false"] : undefined);
  const common = {
    value,
    disabled,
    "aria-label": label,
    "aria-invalid": invalid === true,
    "aria-describedby": invalid === true ? describedBy : undefined,
  };
  if (choices !== undefined) {
    return (
      <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="" disabled>choose…</option>
        {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
      </select>
    );
  }
  const paste = (event: ClipboardEvent) => {
    const values = event.clipboardData?.getData("text").split(/[\n,;\t]+/)
      .map((text) => text.trim()).filter((text) => text !== "") ?? [];
    if (onPasteMany === undefined || values.length < 2) return;
    event.preventDefault();
    onPasteMany(values);
  };
  return (
    <input
      {...common}
      type={(field?.type === "date" ? "date" : "text") as "text"}
      placeholder={field === undefined ? "a%" : exampleOf(field.type)}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onChange(event.currentTarget.value)}
      onPaste={paste}
    />
  );
}
