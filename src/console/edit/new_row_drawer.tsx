import { useEffect } from "preact/hooks";
import type { OpenTable, Row } from "../api.ts";
import { isWithin } from "../column_values.tsx";
import { ErrorMessage, readIssues } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { focusAfterUpdate } from "../frame/focus.ts";
import { CONTROL, useControlKey } from "../frame/keys.ts";
import { NewField } from "./new_field.tsx";
import { listNewFields, useNewRow } from "./new_row.ts";
import { isUnknown } from "./send_update.ts";

interface NewRowDrawerProps extends OpenTable {
  /** The row that is copied; undefined: none. */
  readonly base: Row | undefined;
  /** Whether its key is copied: it is no longer there. */
  readonly withKey: boolean;
  /** Whether the token may see what it creates. */
  readonly mayQuery: boolean;
  readonly onClose: () => void;
  /** Called with the row as it is stored. */
  readonly onCreated: (row: Row | undefined) => void;
}

/** A form for a new row, empty or with the values of another one. */
export function NewRowDrawer(props: NewRowDrawerProps) {
  const { table, base, withKey, onClose } = props;
  const { edits, busy, failed, done, edit, create } = useNewRow(props);
  const fields = listNewFields(props.fields);
  const issues = readIssues(failed?.error);
  const issuesOf = (name: string) =>
    issues.filter(({ path }) => isWithin(path, `records[0].${name}`));
  const isMarked = fields.some(({ name }) => issuesOf(name).length > 0);
  useEffect(() => focusAfterUpdate(".row-fields .row-field :is(input, select, textarea)"), []);
  useControlKey("Enter", busy ? undefined : () => void create());
  return (
    <Drawer
      title={base === undefined ? "New row" : "Copy of a row"}
      note={<span class="muted grow">{table.name}</span>}
      onClose={onClose}
      foot={
        <>
          <button type="button" class="primary" disabled={busy} onClick={() => void create()}>
            Create
          </button>
          <kbd class="muted wide-only">{CONTROL} ⏎</kbd>
          <span class="small muted grow" role="status">
            {done || countFilled(Object.keys(edits).length)}
          </span>
        </>
      }
    >
      <div class="row-fields">
        {failed !== undefined && (
          <ErrorMessage
            response={failed}
            issues={issues.filter(({ path }) =>
              fields.every(({ name }) => !isWithin(path, `records[0].${name}`))
            )}
            marked={isMarked ? "below" : undefined}
          />
        )}
        {failed !== undefined && isUnknown(failed) && (
          <p class="small">
            It is not known whether the row was created. Create it again: nothing is done twice.
          </p>
        )}
        <p class="small muted">
          {base !== undefined &&
            `${withKey ? "G" : "Unique and g"}enerated fields are not copied. `}
          A field that you leave out has its default.
        </p>
        {fields.map((field) => (
          <NewField
            key={field.name}
            field={field}
            edit={edits[field.name]}
            issues={issuesOf(field.name)}
            onEdit={(typed) => edit(field.name, typed)}
          />
        ))}
      </div>
    </Drawer>
  );
}

function countFilled(count: number): string {
  return count === 0 ? "Nothing filled in" : `${count} field${count === 1 ? "" : "s"} filled in`;
}
