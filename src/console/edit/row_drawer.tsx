import { useEffect, useState } from "preact/hooks";
import type { ApiRequest, Field, OpenTable, Row } from "../api.ts";
import { isWithin, writeColumnValues } from "../column_values.tsx";
import { ErrorMessage, readIssues } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { useKept } from "../frame/kept.ts";
import { CONTROL, useControlKey } from "../frame/keys.ts";
import { editField, type RowEdits } from "./row_edits.ts";
import { RowField } from "./row_field.tsx";
import { RowPreview } from "./row_preview.tsx";
import { isUnknown, readRows } from "./send_update.ts";
import { type RowUpdate, useRowUpdate } from "./use_row_update.ts";

interface RowDrawerProps extends OpenTable {
  /** As it is known already; the rest is read. */
  readonly row: Row;
  /** The key of the row; empty if the table has none. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Whether the token may update the table. */
  readonly editable: boolean;
  readonly onClose: () => void;
  /** Called when the row was changed. */
  readonly onSaved: () => void;
}

/** With fewer fields, a glance finds each. */
const MIN_SEARCHED = 20;

/** A row with all its fields, from which it is edited. Only fields that were touched are sent. */
export function RowDrawer(props: RowDrawerProps) {
  const { token, table, fields, filters, editable, onClose, onSaved } = props;
  const [response, setResponse] = useState<Awaited<ReturnType<typeof readRows>>>();
  const [edits, setEdits] = useKept<RowEdits>(
    `${table.name} row ${JSON.stringify(filters)}`,
    () => ({}),
  );
  const [text, setText] = useState("");
  const where = { table: table.name, fields, filters, primaryKey: table.primary_key };
  const hasKey = table.primary_key.length > 0;
  const row: Row | undefined = hasKey ? response?.body?.records[0] : props.row;
  const read = async () => {
    if (hasKey) setResponse(await readRows(token, { ...where, perPage: 1 }));
  };
  useEffect(() => void read(), []);

  const touched = Object.values(edits);
  const changes = writeColumnValues(touched, { member: "fields", fields });
  const request: ApiRequest = {
    method: "PATCH",
    path: `integration/tables/${table.name}/records/single`,
    body: { filters, fields: changes },
  };
  const update = useRowUpdate({
    ...{ token, request, where },
    async onSaved() {
      setEdits({});
      await read();
      onSaved();
    },
  });
  const { preview, failed } = update;
  const issues = readIssues(failed?.error);
  const issuesOf = (name: string) => issues.filter(({ path }) => isWithin(path, `fields.${name}`));
  // What is wrong stays in sight.
  const isFound = ({ name }: Field) =>
    name.toLowerCase().includes(text.toLowerCase()) || issuesOf(name).length > 0;

  return (
    <Drawer
      title={hasKey ? Object.values(filters).join(" / ") : "Row"}
      note={<span class="muted grow">{table.name}</span>}
      onClose={onClose}
      foot={editable && row !== undefined && <RowSteps update={update} touched={touched.length} />}
    >
      <div class="row-fields">
        {failed !== undefined && (
          <ErrorMessage
            response={failed}
            issues={issues.filter(({ path }) =>
              touched.every(({ field }) => !isWithin(path, `fields.${field}`))
            )}
            marked={touched.some(({ field }) => issuesOf(field).length > 0) ? "below" : undefined}
          />
        )}
        {failed !== undefined && isUnknown(failed) && (
          <p class="small">
            It is not known whether the row was changed. Save again: nothing is done twice.
          </p>
        )}
        {failed?.status === 404 && (
          <p>
            <button
              type="button"
              onClick={() => {
                update.forget();
                void read();
              }}
            >
              Read the row again
            </button>{" "}
            <span class="small muted">Your changes stay in the form.</span>
          </p>
        )}
        {response?.error !== undefined && <p class="problem" role="alert">{response.error}</p>}
        {response?.body !== undefined && row === undefined && (
          <p class="empty-state">This row is no longer there.</p>
        )}
        {row !== undefined && preview !== undefined && (
          <RowPreview
            row={preview.page?.records[0] ?? row}
            base={row}
            changes={changes}
            updated={preview.response.body!.updated}
          />
        )}
        {row !== undefined && preview === undefined && fields.length >= MIN_SEARCHED && (
          <input
            type="search"
            aria-label="Find a field"
            placeholder={`Find one of ${fields.length} fields`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
        {row !== undefined && preview === undefined &&
          fields.filter(isFound).map((field) => (
            <RowField
              key={field.name}
              field={field}
              value={row[field.name]}
              edit={edits[field.name]}
              editable={editable}
              issues={issuesOf(field.name)}
              onEdit={(typed) => {
                update.touch();
                setEdits(editField(edits, { field, row, typed }));
              }}
            />
          ))}
      </div>
    </Drawer>
  );
}

interface RowStepsProps {
  readonly update: RowUpdate;
  /** Number of fields that were touched. */
  readonly touched: number;
}

/** The next step of an update: to preview, or to save. */
function RowSteps({ update, touched }: RowStepsProps) {
  const { preview, busy, done } = update;
  const next = touched === 0
    ? undefined
    : preview === undefined
    ? update.tryOut
    : () => update.save(preview);
  useControlKey("Enter", next && (() => void next()));
  const names = touched === 1 ? "1 field" : `${touched} fields`;
  return (
    <>
      {preview !== undefined && (
        <button type="button" disabled={busy} onClick={update.goBack}>Back</button>
      )}
      <button
        type="button"
        class="primary"
        disabled={busy || next === undefined}
        onClick={() => void next?.()}
      >
        {preview === undefined ? "Preview" : `Save ${names}`}
      </button>
      {next !== undefined && <kbd class="muted wide-only">{CONTROL} ⏎</kbd>}
      <span class="small muted grow" role="status">
        {done || (touched === 0 ? "Nothing touched" : `${names} touched`)}
      </span>
    </>
  );
}
