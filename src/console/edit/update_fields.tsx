import type { Field } from "../api.ts";
import { ColumnValues } from "../column_values.tsx";
import type { Issue } from "../error_message.tsx";
import { CONTROL } from "../frame/keys.ts";
import type { UpdateForm } from "./update_form.ts";

interface UpdateFieldsProps {
  readonly form: UpdateForm & { readonly isLeftOut?: boolean };
  readonly fields: readonly Field[];
  readonly issues: readonly Issue[];
  readonly busy: boolean;
  /** Whether the next step is another one than to preview. */
  readonly isPreviewed: boolean;
  readonly onChange: (part: Partial<UpdateForm>) => void;
  readonly onSubmit: () => void;
}

const MODES = [["single", "exactly one row"], ["bulk", "all rows that match"]] as const;

/** The form of an update: how many rows, which, and their new values. */
export function UpdateFields(props: UpdateFieldsProps) {
  const { form: { mode, filters, values, isLeftOut }, fields, issues, busy, onChange } = props;
  return (
    <form
      class="update-form"
      aria-label="Update"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      <fieldset class="line">
        <legend class="hidden">How many rows</legend>
        <span class="segments" role="radiogroup" aria-label="How many rows">
          {MODES.map(([id, label]) => (
            <label key={id}>
              <input
                type="radio"
                name="mode"
                checked={mode === id}
                onChange={() => onChange({ mode: id })}
              />
              <span>{label}</span>
            </label>
          ))}
        </span>
      </fieldset>
      <h2>Where</h2>
      {isLeftOut && filters.length === 0 && (
        <p class="small muted">
          The filter of the rows is not used here: updates match by equality only.
        </p>
      )}
      <ColumnValues
        member="filters"
        {...{ fields, issues }}
        values={filters}
        onChange={(to) => onChange({ filters: to })}
      />
      <h2>Set</h2>
      <ColumnValues
        member="fields"
        fields={fields.filter(({ writable }) => writable)}
        {...{ issues, values }}
        onChange={(to) => onChange({ values: to })}
      />
      <div class="line">
        <button type="submit" class={props.isPreviewed ? "" : "primary"} disabled={busy}>
          {busy ? "Running…" : "Preview"}
        </button>
        <kbd class="muted wide-only">{CONTROL} ⏎</kbd>
        <span class="small muted">Runs the update and rolls it back (tx=rollback)</span>
      </div>
    </form>
  );
}
