import { useState } from "preact/hooks";
import type { ApiRequest, ApiResponse, OpenTable, Row, UpdateResult } from "../api.ts";
import { ColumnValues, isWithin, writeColumnValues } from "../column_values.tsx";
import { ErrorMessage, readIssues } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { useKept } from "../frame/kept.ts";
import { CONTROL, useControlKey } from "../frame/keys.ts";
import { focusAfterUpdate, useContentFocus } from "../frame/focus.ts";
import { RequestPanel } from "../request_panel.tsx";
import { countRows } from "../rows.tsx";
import { TableHead } from "../table_head.tsx";
import {
  isUnknown,
  makeFinalRequest,
  type Preview,
  previewUpdate,
  readAgain,
  sendUpdate,
} from "./send_update.ts";
import { startForm, type UpdateForm } from "./update_form.ts";
import { UpdatedRows, UpdatePreview } from "./update_preview.tsx";

interface UpdateViewProps extends OpenTable {
  /** The filter of the rows, with which the form begins. */
  readonly filter: unknown;
  /** Whether the token may update. */
  readonly mayUpdate: boolean;
  readonly onChanged: () => void;
}

const MODES = [["single", "exactly one row"], ["bulk", "all rows that match"]] as const;

/** What an update did, and the rows of its preview as they are now. */
interface Sent {
  readonly response: ApiResponse<UpdateResult>;
  readonly before: readonly Row[];
  readonly after: readonly Row[] | undefined;
}

/** Prepares an update of one row or many. Only one that was previewed can be sent. */
export function UpdateView(props: UpdateViewProps) {
  const { token, table, fields, filter, mayUpdate, onChanged } = props;
  const [form, setForm] = useKept<UpdateForm & { readonly isLeftOut?: boolean }>(
    `${table.name} update ${JSON.stringify(filter ?? null)}`,
    () => startForm(filter, { fields }),
  );
  const [preview, setPreview] = useState<Preview>();
  const [sent, setSent] = useState<Sent>();
  const [busy, setBusy] = useState(false);
  const [isCopying, setCopying] = useState(false);
  const { mode, filters, values } = form;
  const change = (part: Partial<UpdateForm>) => setForm({ ...form, ...part });
  const writtenFilters = writeColumnValues(filters, { member: "filters", fields });
  const request: ApiRequest = {
    method: "PATCH",
    path: `integration/tables/${table.name}/records/${mode}`,
    body: {
      filters: writtenFilters,
      fields: writeColumnValues(values, { member: "fields", fields }),
    },
  };
  // A preview holds only for the request that it tried.
  const current = preview && isSame(preview.request, request) ? preview : undefined;
  const failed = sent?.response.error === undefined ? current?.response : sent.response;
  const issues = readIssues(failed?.error);
  const isMarked = (path: string) =>
    filters.some(({ field }) => isWithin(path, `filters.${field}`)) ||
    values.some(({ field }) => isWithin(path, `fields.${field}`));

  async function runOnce(work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setSent(undefined);
    await work();
    setBusy(false);
  }
  const tryOut = () =>
    runOnce(async () => {
      setPreview(
        await previewUpdate(token, {
          request,
          table: table.name,
          filters: writtenFilters,
          primaryKey: table.primary_key,
        }),
      );
      // The button was disabled meanwhile; what is sent is chosen by another one.
      focusAfterUpdate('.update-form [aria-invalid="true"], .update-form [type=submit]');
    });
  const send = (previewed: Preview) =>
    runOnce(async () => {
      const response = await sendUpdate(token, previewed);
      const before = previewed.page?.records ?? [];
      const after = response.body && await readAgain(token, {
        table: table.name,
        primaryKey: table.primary_key,
        rows: before,
      });
      setSent({ response, before, after });
      // An update whose answer was lost can be sent again: its key is the same.
      if (!isUnknown(response)) setPreview(undefined);
      if (response.body !== undefined) onChanged();
      // The button that sent it is gone, or was disabled meanwhile.
      focusAfterUpdate(".counts .danger, .update-form [type=submit]");
    });
  const isOpen = table.writable && mayUpdate;
  useContentFocus(isOpen ? ".update-form input:checked" : "h1", table);
  useControlKey("Enter", isOpen && !isCopying ? () => void tryOut() : undefined);
  if (!isOpen) {
    return (
      <>
        <TableHead table={table} />
        <p class="empty-state">
          {table.writable
            ? "This token may query, not update."
            : "This table is read-only. Its rows can be queried, not updated."}
        </p>
      </>
    );
  }
  const final = current === undefined ? request : makeFinalRequest(current);
  return (
    <>
      <TableHead table={table}>
        <span class="toolbar-gap" />
        <button type="button" onClick={() => setCopying(true)}>Request</button>
      </TableHead>
      <form
        class="update-form"
        aria-label="Update"
        onSubmit={(event) => {
          event.preventDefault();
          void tryOut();
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
                  onChange={() => change({ mode: id })}
                />
                <span>{label}</span>
              </label>
            ))}
          </span>
        </fieldset>
        <h2>Where</h2>
        {form.isLeftOut && filters.length === 0 && (
          <p class="small muted">
            The filter of the rows is not used here: updates match by equality only.
          </p>
        )}
        <ColumnValues
          member="filters"
          {...{ fields, issues }}
          values={filters}
          onChange={(to) => change({ filters: to })}
        />
        <h2>Set</h2>
        <ColumnValues
          member="fields"
          fields={fields.filter(({ writable }) => writable)}
          {...{ issues, values }}
          onChange={(to) => change({ values: to })}
        />
        <div class="line">
          <button type="submit" class={current === undefined ? "primary" : ""} disabled={busy}>
            {busy ? "Running…" : "Preview"}
          </button>
          <kbd class="muted wide-only">{CONTROL} ⏎</kbd>
          <span class="small muted">Runs the update and rolls it back (tx=rollback)</span>
        </div>
      </form>
      <div role="status">
        {sent?.response.body !== undefined && (
          <p class="notice done">
            <b>Done.</b> {countRows(sent.response.body.updated)} changed.
          </p>
        )}
      </div>
      {failed?.error !== undefined && (
        <ErrorMessage
          response={failed}
          issues={issues.filter(({ path }) => !isMarked(path))}
          marked={issues.some(({ path }) => isMarked(path)) ? "above" : undefined}
        />
      )}
      {sent?.after !== undefined && sent.after.length > 0 && (
        <UpdatedRows {...{ fields }} before={sent.before} after={sent.after} />
      )}
      {current !== undefined && (
        <UpdatePreview
          preview={current}
          {...{ busy, fields, values }}
          primaryKey={table.primary_key}
          onSend={() => send(current)}
        />
      )}
      {isCopying && (
        <Drawer title="This update as a request" onClose={() => setCopying(false)}>
          <RequestPanel request={final} note={explainLimit(final)} />
        </Drawer>
      )}
    </>
  );
}

function isSame(one: ApiRequest, other: ApiRequest): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What a flow that runs again must know of a copied limit. */
function explainLimit({ prefer, path }: ApiRequest): string | undefined {
  if (!path.endsWith("/bulk")) return undefined;
  if (prefer === undefined) {
    return "Without max-affected, this changes every row that matches. Preview the update to copy " +
      "it with a limit.";
  }
  return `${prefer} is today's count: as many rows match now. In a flow that runs again, set the ` +
    "most rows that one run may change; when more match, it is 409 and nothing is changed.";
}
