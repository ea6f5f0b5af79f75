import { useState } from "preact/hooks";
import {
  type ApiRequest,
  type ApiResponse,
  type Field,
  type OpenTable,
  type Page,
  sendRequest,
  type UpdateResult,
} from "./api.ts";
import { type ColumnValue, ColumnValues, isWithin, writeColumnValues } from "./column_values.tsx";
import { ErrorMessage, readIssues } from "./error_message.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { countRows, RowsTable } from "./rows.tsx";

interface UpdateViewProps extends OpenTable {
  /** The filters to begin with: the key of a row, or none. */
  readonly initialFilters: readonly ColumnValue[];
}

const MODES = [["single", "exactly one row"], ["bulk", "all rows that match"]] as const;

/**
 * Prepares an update. Only one that was previewed can be sent. The initial filters are read once: an
 * effect that followed them could undo what was chosen before it ran.
 */
export function UpdateView({ token, table, fields, initialFilters }: UpdateViewProps) {
  const [mode, setMode] = useState<"single" | "bulk">("single");
  const [filters, setFilters] = useState(initialFilters);
  const [values, setValues] = useState<readonly ColumnValue[]>([]);
  const [preview, setPreview] = useState<Preview>();
  const [sent, setSent] = useState<ApiResponse<UpdateResult>>();
  const [busy, setBusy] = useState(false);
  if (!table.writable) return <p class="empty-state">This table is read-only.</p>;

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
  const failed = sent?.error === undefined ? current?.response : sent;
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
  const submit = (event: Event) => {
    event.preventDefault();
    return runOnce(async () =>
      setPreview(
        await previewUpdate(token, { request, table: table.name, filters: writtenFilters }),
      )
    );
  };
  const send = (previewed: Preview) =>
    runOnce(async () => {
      setSent(await sendRequest<UpdateResult>(token, makeFinalRequest(previewed)));
      setPreview(undefined);
    });

  return (
    <>
      <form class="panel query" onSubmit={submit}>
        <fieldset class="line">
          <legend class="hidden">How many rows</legend>
          <h2>Update</h2>
          {MODES.map(([id, label]) => (
            <label class="line" key={id}>
              <input
                type="radio"
                name="mode"
                checked={mode === id}
                onChange={() => setMode(id)}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <h2>Where</h2>
        <ColumnValues
          member="filters"
          {...{ fields, issues }}
          values={filters}
          onChange={setFilters}
        />
        <h2>Set</h2>
        <ColumnValues
          member="fields"
          fields={fields.filter(({ writable }) => writable)}
          {...{ issues, values }}
          onChange={setValues}
        />
        <div class="line run">
          <button type="submit" class={current === undefined ? "primary" : ""} disabled={busy}>
            {busy ? "Running…" : "Preview"}
          </button>
          <span class="small muted">Runs the update and rolls it back (tx=rollback)</span>
        </div>
      </form>
      <div role="status">
        {sent?.body !== undefined && (
          <p class="done">
            <b>Done.</b> {countRows(sent.body.updated)} changed.
          </p>
        )}
      </div>
      {failed?.error !== undefined && (
        <ErrorMessage
          response={failed}
          issues={issues.filter(({ path }) => !isMarked(path))}
          hasMarkedIssues={issues.some(({ path }) => isMarked(path))}
        />
      )}
      {current !== undefined && (
        <UpdatePreview
          preview={current}
          busy={busy}
          fields={fields}
          onSend={() => send(current)}
        />
      )}
      <RequestPanel request={current === undefined ? request : makeFinalRequest(current)} />
    </>
  );
}

function isSame(one: ApiRequest, other: ApiRequest): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Preview {
  /** The request that was tried, without its preferences. */
  readonly request: ApiRequest;
  /** Undefined when unknown: the token may not query. */
  readonly matched: number | undefined;
  readonly response: ApiResponse<UpdateResult>;
  /** The first rows that match, with their present values. */
  readonly page: Page | undefined;
}

const PREVIEWED_ROWS = 10;

/** Runs an update that is rolled back, and queries the rows that it matches. @see U45 */
async function previewUpdate(
  token: string,
  { request, table, filters }: {
    readonly request: ApiRequest;
    readonly table: string;
    readonly filters: Readonly<Record<string, unknown>>;
  },
): Promise<Preview> {
  const and = Object.entries(filters).map(([field, value]) => ({ field, op: "eq", value }));
  const [rows, response] = await Promise.all([
    sendRequest<Page>(token, {
      method: "POST",
      path: `integration/tables/${table}/query`,
      body: { filters: { and }, per_page: PREVIEWED_ROWS },
    }),
    sendRequest<UpdateResult>(token, { ...request, prefer: "tx=rollback, handling=strict" }),
  ]);
  const matched = rows.body?.total ?? response.matched;
  return { request, matched, response, page: rows.body };
}

/** The request to send after a preview: a bulk update may reach no more rows than the preview did. */
function makeFinalRequest({ request, matched }: Preview): ApiRequest {
  if (!request.path.endsWith("/bulk") || matched === undefined || matched === 0) return request;
  return { ...request, prefer: `max-affected=${matched}` };
}

interface UpdatePreviewProps {
  readonly preview: Preview;
  readonly fields: readonly Field[];
  readonly busy: boolean;
  readonly onSend: () => void;
}

function UpdatePreview({ preview, fields, busy, onSend }: UpdatePreviewProps) {
  const { response, matched, page } = preview;
  const updated = response.body?.updated;
  const counts = [
    [matched?.toLocaleString("en") ?? "?", matched === 1 ? "matches" : "match"],
    [updated?.toLocaleString("en") ?? "–", "would change"],
  ];
  return (
    <section class="panel preview" aria-label="Preview">
      <div class="line counts" role="status">
        {counts.map(([count, label]) => (
          <span key={label}>
            <b>{count}</b> <span class="muted">{label}</span>
          </span>
        ))}
        {updated !== undefined && (
          <button type="button" class="danger" disabled={busy} onClick={onSend}>
            Change {countRows(updated)}
          </button>
        )}
      </div>
      {page !== undefined && page.records.length > 0 && (
        <>
          <p class="small muted">
            {matched === page.records.length
              ? "Before the change"
              : `The first ${page.records.length} that match, before the change`}
          </p>
          <RowsTable
            label="Rows that match"
            rows={page.records}
            fields={new Map(fields.map((field) => [field.name, field]))}
          />
        </>
      )}
    </section>
  );
}
