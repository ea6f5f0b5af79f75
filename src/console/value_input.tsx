import type { Field } from "./field.ts";
import { exampleOf } from "./value.ts";

interface ValueInputProps {
  /** Undefined: any text, as a pattern. */
  readonly field: Field | undefined;
  readonly value: string;
  readonly label: string;
  readonly invalid?: boolean;
  /** Id of what says why it is invalid. */
  readonly describedBy?: string | undefined;
  readonly disabled?: boolean;
  readonly onChange: (value: string) => void;
  /** Several values were pasted at once. */
  readonly onPasteMany?: (values: readonly string[]) => void;
}

/** One value, by the type of its column: labels of an enum, true or false, a day, or text. */
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
