import type { Field } from "./api.ts";
import { type Issue, IssueList } from "./error_message.tsx";
import { focusAfterUpdate } from "./frame/focus.ts";
import { ValueInput } from "./value_input.tsx";
import { parseValue } from "../describe/reference/example_value.ts";
import { parseNewValue } from "./value.ts";

/** A column and its value, as `filters` and `fields` of an update have them. @see U1 */
export interface ColumnValue {
  readonly field: string;
  readonly text: string;
  readonly isNull: boolean;
}

interface ColumnValuesProps {
  /** Which member of the body is edited. */
  readonly member: "filters" | "fields";
  readonly values: readonly ColumnValue[];
  readonly fields: readonly Field[];
  readonly issues: readonly Issue[];
  readonly onChange: (values: readonly ColumnValue[]) => void;
}

/** Edits columns with one value each; every column at most once. */
export function ColumnValues({ member, values, fields, issues, onChange }: ColumnValuesProps) {
  const free = fields.filter(({ name }) => values.every(({ field }) => field !== name));
  const within = `[data-member="${member}"]`;
  return (
    <div class="column-values" data-member={member}>
      {values.map((value, index) => (
        <ColumnValueEditor
          key={value.field}
          member={member}
          value={value}
          field={fields.find(({ name }) => name === value.field)}
          issues={issues.filter(({ path }) => isWithin(path, `${member}.${value.field}`))}
          onChange={(part) => onChange(values.with(index, { ...value, ...part }))}
          onRemove={() => {
            onChange(values.toSpliced(index, 1));
            focusAfterUpdate(`${within} > .add`);
          }}
        />
      ))}
      {free.length > 0 && (
        <select
          class="add"
          aria-label={member === "fields" ? "Set a column" : "Filter by a column"}
          value=""
          onChange={(event) => {
            const field = event.currentTarget.value;
            event.currentTarget.value = "";
            onChange([...values, { field, text: "", isNull: false }]);
            focusAfterUpdate(`${within} > .condition:last-of-type :is(input, select)`);
          }}
        >
          <option value="" disabled>+ column…</option>
          {free.map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
      )}
    </div>
  );
}

interface ColumnValueEditorProps {
  readonly member: "filters" | "fields";
  readonly value: ColumnValue;
  readonly field: Field | undefined;
  readonly issues: readonly Issue[];
  readonly onChange: (part: Partial<ColumnValue>) => void;
  readonly onRemove: () => void;
}

function ColumnValueEditor(props: ColumnValueEditorProps) {
  const { member, field, issues, onChange, onRemove } = props;
  const { field: name, text, isNull } = props.value;
  const problemId = `problem-${member}-${name}`;
  return (
    <div class={`condition${issues.length > 0 ? " wrong" : ""}`}>
      <span class="column-name">{name}</span>
      <span class="muted">{member === "fields" ? "to" : "="}</span>
      <ValueInput
        field={field}
        value={isNull ? "" : text}
        label={`Value of ${name}`}
        disabled={isNull}
        invalid={issues.length > 0}
        describedBy={problemId}
        onChange={(typed) => onChange({ text: typed })}
      />
      {field?.nullable && (
        <label class="line small">
          <input type="checkbox" checked={isNull} onChange={() => onChange({ isNull: !isNull })} />
          NULL
        </label>
      )}
      <span class="type muted" aria-hidden="true">{field?.type}</span>
      <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
        ✕
      </button>
      <IssueList id={problemId} issues={issues} />
    </div>
  );
}

/** Whether a path is the given one or leads into it. */
export function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

/** Converts columns and values to the member of the body that they stand for. */
export function writeColumnValues(
  values: readonly ColumnValue[],
  { member, fields }: Pick<ColumnValuesProps, "member" | "fields">,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(values.map(({ field: name, text, isNull }) => {
    const field = fields.find((each) => each.name === name);
    if (isNull) return [name, null];
    const value = member === "fields" ? parseNewValue(text, field) : parseValue(text, field?.type);
    return [name, value];
  }));
}
