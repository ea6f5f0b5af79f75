import { useEffect, useState } from "preact/hooks";
import type { ApiRequest, Field, OpenTable, Row } from "../api.ts";
import { isWithin, writeColumnValues } from "../column_values.tsx";
import { ErrorMessage, type Issue, readIssues } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { useKept } from "../frame/kept.ts";
import { CONTROL, useControlKey } from "../frame/keys.ts";
import type { Deleting } from "./delete_row_drawer.tsx";
import { editField, type RowEdits } from "./row_edits.ts";
import { RowField } from "./row_field.tsx";
import { RowPreview } from "./row_preview.tsx";
import { RowConflict } from "./row_conflict.tsx";
import { isConflict, isUnknown, readOne } from "./send_update.ts";
import { type RowUpdate, useRowUpdate } from "./use_row_update.ts";

interface RowDrawerProps extends OpenTable {
  /** As it is known already; the rest is read. */
  readonly row: Row;
  /** The key of the row; empty if the table has none. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Whether the token may update the table. */
  readonly editable: boolean;
  /** What was done with the row before it was opened, such as to create it. */
  readonly done?: string | undefined;
  /** Begins a new row with the values of this one; undefined: the token may create none. */
  readonly onDuplicate: ((row: Row) => void) | undefined;
  /** Asks whether to delete the row; undefined: the token may not. */
  readonly onDelete: ((deleting: Deleting) => void) | undefined;
  readonly onClose: () => void;
  /** Called when the row was changed. */
  readonly onSaved: () => void;
}

/** With fewer fields, a glance finds each. */
const MIN_SEARCHED = 20;

/** A row with all its fields, from which it is edited. Only fields that were touched are sent. */
export function RowDrawer(props: RowDrawerProps) {
  const { token, table, fields, filters, editable, onClose, onSaved } = props;
  const { onDuplicate, onDelete } = props;
  const hasSteps = editable || onDuplicate !== undefined || onDelete !== undefined;
  const [response, setResponse] = useState<Awaited<ReturnType<typeof readOne>>>();
  const [edits, setEdits] = useKept<RowEdits>(
    `${table.name} row ${JSON.stringify(filters)}`,
    () => ({}),
  );
  const [text, setText] = useState("");
  const where = { table: table.name, fields, filters, primaryKey: table.primary_key };
  const hasKey = table.primary_key.length > 0;
  const row: Row | undefined = hasKey ? response?.body?.record : props.row;
  const read = async () => {
    if (hasKey) setResponse(await readOne(token, where));
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
    ...{ token, request, done: props.done ?? "" },
    where: { ...where, version: response?.etag },
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
      foot={row !== undefined && hasSteps && (
        <>
          {editable && <RowSteps update={update} touched={touched.length} />}
          {onDuplicate !== undefined && preview === undefined && (
            <button
              type="button"
              onClick={() => onDuplicate(row)}
            >
              Duplicate
            </button>
          )}
          {onDelete !== undefined && preview === undefined && (
            <button
              type="button"
              onClick={() => onDelete({ row, version: response?.etag })}
            >
              Delete
            </button>
          )}
        </>
      )}
    >
      <div class="row-fields">
        {failed !== undefined && (
          <FailedUpdate
            {...{ failed, issues }}
            names={touched.map(({ field }) => field)}
          />
        )}
        {failed !== undefined && isConflict(failed) && row !== undefined && (
          <RowConflict
            {...{ token, table, filters, row, changes }}
            onContinue={(now) => {
              update.forget();
              setResponse(now);
            }}
          />
        )}
        {response?.error !== undefined && response.status !== 404 && (
          <p class="problem" role="alert">{response.error}</p>
        )}
        {response?.status === 404 && <p class="empty-state">This row is no longer there.</p>}
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

interface FailedUpdateProps {
  readonly failed: NonNullable<RowUpdate["failed"]>;
  readonly issues: readonly Issue[];
  /** The fields that were touched: their issues stand below them. */
  readonly names: readonly string[];
}

function FailedUpdate({ failed, issues, names }: FailedUpdateProps) {
  const isOf = ({ path }: Issue) => names.some((name) => isWithin(path, `fields.${name}`));
  return (
    <>
      <ErrorMessage
        response={failed}
        issues={issues.filter((issue) => !isOf(issue))}
        marked={issues.some(isOf) ? "below" : undefined}
      />
      {isUnknown(failed) && (
        <p class="small">
          It is not known whether the row was changed. Save again: nothing is done twice.
        </p>
      )}
    </>
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
