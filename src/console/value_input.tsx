import { useRef } from "preact/hooks";
import type { Field } from "./api.ts";
import { exampleOf } from "../describe/reference/example_value.ts";

interface ValueInputProps {
  /** Undefined: a pattern, for which any text will do. */
  readonly field: Field | undefined;
  readonly value: string;
  readonly label: string;
  readonly invalid?: boolean;
  /** Id of the element that says why the value is invalid. */
  readonly describedBy?: string | undefined;
  readonly disabled?: boolean;
  /** Whether the value is NULL, which an empty input shows. */
  readonly isNull?: boolean;
  /** Whether there must be a value. */
  readonly required?: boolean;
  /** Whether to leave room for several lines. */
  readonly long?: boolean;
  readonly onChange: (value: string) => void;
  /** Called when several values are pasted at once. */
  readonly onPasteMany?: (values: readonly string[]) => void;
}

/** An input for one value, by the type of its column: a choice of labels or booleans, a date, or text. */
export function ValueInput(props: ValueInputProps) {
  const { field, value, label, invalid, describedBy, disabled, isNull, onChange } = props;
  const choices = field?.enum ?? (field?.type === "bool" ? ["true", "false"] : undefined);
  const common = {
    value,
    disabled,
    "aria-label": label,
    "aria-invalid": invalid === true,
    "aria-required": props.required,
    "aria-describedby": invalid === true ? describedBy : undefined,
  };
  if (choices !== undefined) {
    return (
      <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="" disabled>{isNull ? "NULL" : "choose…"}</option>
        {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
      </select>
    );
  }
  const typed = {
    ...common,
    placeholder: isNull ? "NULL" : field === undefined ? "a%" : exampleOf(field.type),
    autocomplete: "off",
    spellcheck: false,
  } as const;
  if (props.long) {
    return (
      <textarea
        {...typed}
        rows={Math.min(14, value.split("\n").length + 2)}
        class={field?.type.includes("json") ? "mono" : ""}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const paste = (event: ClipboardEvent) => {
    const values = event.clipboardData?.getData("text").split(/[\n,;\t]+/)
      .map((text) => text.trim()).filter((text) => text !== "") ?? [];
    if (props.onPasteMany === undefined || values.length < 2) return;
    event.preventDefault();
    props.onPasteMany(values);
  };
  const input = (
    <input
      {...typed}
      type="text"
      onInput={(event) => onChange(event.currentTarget.value)}
      onPaste={paste}
    />
  );
  const kind = PICKED[field?.type ?? ""];
  if (kind === undefined) return input;
  return (
    <span class="picked">
      {input}
      <TimePicker kind={kind} {...{ value, label, disabled }} onChange={onChange} />
    </span>
  );
}

/** Types whose values are typed in the form of ISO 8601, or picked. */
const PICKED: Readonly<Record<string, PickerKind>> = {
  date: "date",
  timestamp: "local",
  timestamptz: "utc",
};

/** The part of a text that a picker takes. */
const PICKABLE: Readonly<Record<PickerKind, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d/,
  local: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?/,
  utc: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?/,
};

type PickerKind = "date" | "local" | "utc";

interface TimePickerProps {
  readonly kind: PickerKind;
  readonly value: string;
  readonly label: string;
  readonly disabled: boolean | undefined;
  readonly onChange: (value: string) => void;
}

/**
 * Opens the browser's own calendar. Its field shows dates in the form of the browser's language, so it
 * stays hidden, and the text beside it is in ISO 8601; times with a zone are in UTC.
 */
function TimePicker({ kind, value, label, disabled, onChange }: TimePickerProps) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <span class="picker">
      <input
        ref={picker}
        type={kind === "date" ? "date" : "datetime-local"}
        step={kind === "date" ? undefined : 1}
        tabIndex={-1}
        aria-hidden="true"
        disabled={disabled}
        value={PICKABLE[kind].exec(value)?.[0].replace(" ", "T") ?? ""}
        onChange={(event) => {
          const picked = event.currentTarget.value;
          if (picked !== "") onChange(kind === "date" ? picked : complete(picked, kind));
        }}
      />
      <button
        type="button"
        class="quiet"
        disabled={disabled}
        aria-label={`Pick ${kind === "date" ? "a date" : "a time"}: ${label}`}
        title={kind === "utc" ? "Pick a time, in UTC" : "Pick from a calendar"}
        onClick={() => picker.current!.showPicker()}
      >
        <span aria-hidden="true">▦</span>
      </button>
    </span>
  );
}

function complete(picked: string, kind: PickerKind): string {
  const seconds = picked.length === 16 ? `${picked}:00` : picked;
  return kind === "utc" ? `${seconds}Z` : seconds;
}
