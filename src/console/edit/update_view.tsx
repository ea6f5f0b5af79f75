import { useState } from "preact/hooks";
import type { ApiRequest, OpenTable } from "../api.ts";
import { isWithin, writeColumnValues } from "../column_values.tsx";
import { ErrorMessage, readIssues } from "../error_message.tsx";
import { Drawer } from "../frame/drawer.tsx";
import { useKept } from "../frame/kept.ts";
import { useControlKey } from "../frame/keys.ts";
import { useContentFocus } from "../frame/focus.ts";
import { RequestPanel } from "../request_panel.tsx";
import { countRows } from "../rows.tsx";
import { TableHead } from "../table_head.tsx";
import { makeFinalRequest } from "./send_update.ts";
import { UpdateFields } from "./update_fields.tsx";
import { startForm, type UpdateForm } from "./update_form.ts";
import { UpdatedRows, UpdatePreview } from "./update_preview.tsx";
import { useUpdate } from "./use_update.ts";

interface UpdateViewProps extends OpenTable {
  /** The filter of the rows, with which the form begins. */
  readonly filter: unknown;
  /** Whether the token may update. */
  readonly mayUpdate: boolean;
  readonly onChanged: () => void;
}

/** Prepares an update of one row or many. Only one that was previewed can be sent. */
export function UpdateView(props: UpdateViewProps) {
  const { token, table, fields, filter, mayUpdate, onChanged } = props;
  const [form, setForm] = useKept<UpdateForm & { readonly isLeftOut?: boolean }>(
    `${table.name} update ${JSON.stringify(filter ?? null)}`,
    () => startForm(filter, { fields }),
  );
  const [isCopying, setCopying] = useState(false);
  const { mode, values } = form;
  const filters = writeColumnValues(form.filters, { member: "filters", fields });
  const request: ApiRequest = {
    method: "PATCH",
    path: `integration/tables/${table.name}/records/${mode}`,
    body: { filters, fields: writeColumnValues(values, { member: "fields", fields }) },
  };
  const { busy, preview, sent, tryOut, send } = useUpdate(
    { token, table, fields, request, filters, onChanged },
  );
  const failed = sent?.response.error === undefined ? preview?.response : sent.response;
  const issues = readIssues(failed?.error);
  const isMarked = (path: string) =>
    form.filters.some(({ field }) => isWithin(path, `filters.${field}`)) ||
    values.some(({ field }) => isWithin(path, `fields.${field}`));

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
  const final = preview === undefined ? request : makeFinalRequest(preview);
  return (
    <>
      <TableHead table={table}>
        <span class="toolbar-gap" />
        <button type="button" onClick={() => setCopying(true)}>Request</button>
      </TableHead>
      <UpdateFields
        {...{ form, fields, issues, busy }}
        isPreviewed={preview !== undefined}
        onChange={(part) => setForm({ ...form, ...part })}
        onSubmit={() => void tryOut()}
      />
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
      {preview !== undefined && (
        <UpdatePreview
          {...{ preview, busy, fields, values }}
          primaryKey={table.primary_key}
          onSend={() => send(preview)}
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
