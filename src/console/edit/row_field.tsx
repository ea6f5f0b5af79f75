import type { Field } from "../api.ts";
import type { ColumnValue } from "../column_values.tsx";
import { type Issue, IssueList } from "../error_message.tsx";
import { ValueInput } from "../value_input.tsx";
import { printWhole } from "../browse/cell_text.ts";
import { focusAfterUpdate } from "../frame/focus.ts";
import { printForEditing } from "./row_edits.ts";

interface RowFieldProps {
  readonly field: Field;
  readonly value: unknown;
  /** Undefined: untouched. */
  readonly edit: ColumnValue | undefined;
  readonly editable: boolean;
  readonly issues: readonly Issue[];
  readonly onEdit: (typed: Omit<ColumnValue, "field">) => void;
}

const LONG_CHARACTERS = 60;

/** One field of a row: its value, to be read or edited, and what it was before it was touched. */
export function RowField({ field, value, edit, editable, issues, onEdit }: RowFieldProps) {
  const { name, type } = field;
  const isNull = edit?.isNull ?? value === null;
  const before = printForEditing(value, field);
  const text = edit?.text ?? before;
  const problemId = `problem-row-${name}`;
  return (
    <div class={`row-field${edit === undefined ? "" : " touched"}`} data-field={name}>
      <div class="row-field-head">
        <span class="row-field-name">{name}</span>
        <span class="type">{type}</span>
        {field.primary_key && <span class="badge key">key</span>}
        {edit !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              onEdit({ text: before, isNull: value === null });
              focusAfterUpdate(`.row-field [aria-label="${CSS.escape(name)}"]`);
            }}
          >
            Undo
          </button>
        )}
        {editable && field.writable && field.nullable && (
          <label class="line small null-choice">
            <input
              type="checkbox"
              aria-label={`${name} is NULL`}
              checked={isNull}
              onChange={() => onEdit({ text, isNull: !isNull })}
            />
            NULL
          </label>
        )}
      </div>
      {editable && field.writable
        ? (
          <ValueInput
            field={field}
            value={isNull ? "" : text}
            label={name}
            long={type.includes("json") || before.length > LONG_CHARACTERS || before.includes("\n")}
            isNull={isNull}
            invalid={issues.length > 0}
            describedBy={problemId}
            onChange={(typed) => onEdit({ text: typed, isNull: false })}
          />
        )
        : value === null || value === ""
        ? <p class="none">{value === null ? "NULL" : "empty"}</p>
        : <p class={typeof value === "object" ? "fixed mono" : "fixed"}>{printWhole(value)}</p>}
      {edit !== undefined && (
        <p class="small muted was">
          was <del>{value === null ? "NULL" : before === "" ? "empty" : before}</del>
        </p>
      )}
      <IssueList id={problemId} issues={issues} />
    </div>
  );
}
