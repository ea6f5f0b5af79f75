import type { Field } from "../api.ts";
import type { ColumnValue } from "../column_values.tsx";
import { type Issue, IssueList } from "../error_message.tsx";
import { focusAfterUpdate } from "../frame/focus.ts";
import { ValueInput } from "../value_input.tsx";

interface NewFieldProps {
  readonly field: Field;
  /** Undefined: it is left out. */
  readonly edit: ColumnValue | undefined;
  readonly issues: readonly Issue[];
  /** Takes what was typed; undefined leaves the field out. */
  readonly onEdit: (typed: Omit<ColumnValue, "field"> | undefined) => void;
}

const LONG_CHARACTERS = 60;
/** Types of which an empty text is a value. */
const TEXTS = /^(?:text|varchar|bpchar|citext|char|name)$/;

/** One field of a new row. What is not typed is left out, and has its default. */
export function NewField({ field, edit, issues, onEdit }: NewFieldProps) {
  const { name, type, required } = field;
  const { text = "", isNull = false } = edit ?? {};
  const problemId = `problem-new-${name}`;
  const write = (typed: string) =>
    onEdit(typed === "" && !TEXTS.test(type) ? undefined : { text: typed, isNull: false });
  return (
    <div class={`row-field${edit === undefined ? "" : " touched"}`} data-field={name}>
      <div class="row-field-head">
        <span class="row-field-name">{name}</span>
        <span class="type">{type}</span>
        {field.primary_key && <span class="badge key">key</span>}
        {required && <span class="badge">required</span>}
        {edit !== undefined && (
          <button
            type="button"
            class="quiet"
            aria-label={`Leave out ${name}`}
            onClick={() => {
              onEdit(undefined);
              focusAfterUpdate(`.row-field [aria-label="${CSS.escape(name)}"]`);
            }}
          >
            Leave out
          </button>
        )}
        {field.nullable && (
          <label class="line small null-choice">
            <input
              type="checkbox"
              aria-label={`${name} is NULL`}
              checked={isNull}
              onChange={() => isNull ? write(text) : onEdit({ text, isNull: true })}
            />
            NULL
          </label>
        )}
      </div>
      <ValueInput
        field={field}
        value={isNull ? "" : text}
        label={name}
        long={type.includes("json") || text.length > LONG_CHARACTERS || text.includes("\n")}
        isNull={isNull}
        required={required === true}
        invalid={issues.length > 0}
        describedBy={problemId}
        onChange={write}
      />
      <IssueList id={problemId} issues={issues} />
    </div>
  );
}
