import { useEffect, useState } from "preact/hooks";
import { ask, type Outcome, type Request } from "./ask.ts";
import { belongs, type Entry, EntryList, writeEntries } from "./entry_list.tsx";
import { readFindings } from "./finding.ts";
import { makeRealRequest, type Preview, previewUpdate, type Updated } from "./preview.ts";
import { Refusal } from "./refusal.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { UpdatePreview } from "./update_preview.tsx";
import type { TableProps } from "./workbench.tsx";

interface UpdateViewProps extends TableProps {
  /** The row to begin with, by its key. */
  readonly chosen: readonly Entry[];
}

const MODES = [["single", "exactly one row"], ["bulk", "all rows that match"]] as const;

/** Prepares an update: tried first, sent when that is what was meant. */
export function UpdateView({ token, table, fields, chosen }: UpdateViewProps) {
  const [mode, setMode] = useState<"single" | "bulk">("single");
  const [filters, setFilters] = useState<readonly Entry[]>(chosen);
  const [values, setValues] = useState<readonly Entry[]>([]);
  const [preview, setPreview] = useState<Preview>();
  const [sent, setSent] = useState<Outcome<Updated>>();
  const [busy, setBusy] = useState(false);
  useEffect(() => setFilters(chosen), [chosen]);
  if (!table.writable) return <p class="empty-state">This table can only be read.</p>;

  const written = writeEntries(filters, { member: "filters", fields });
  const request: Request = {
    method: "PATCH",
    path: `integration/tables/${table.name}/records/${mode}`,
    body: { filters: written, fields: writeEntries(values, { member: "fields", fields }) },
  };
  const current = preview && isSame(preview.request, request) ? preview : undefined;
  const refused = sent?.error === undefined ? current?.outcome : sent;
  const findings = readFindings(refused?.error ?? "").filter(({ message }) => message !== "");
  const isPlaced = (path: string) =>
    filters.some(({ field }) => belongs(path, `filters.${field}`)) ||
    values.some(({ field }) => belongs(path, `fields.${field}`));

  async function act(work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setSent(undefined);
    await work();
    setBusy(false);
  }
  const look = (event: Event) => {
    event.preventDefault();
    return act(async () =>
      setPreview(await previewUpdate(token, { request, table: table.name, filters: written }))
    );
  };
  const send = (tried: Preview) =>
    act(async () => {
      setSent(await ask<Updated>(token, makeRealRequest(tried)));
      setPreview(undefined);
    });

  return (
    <>
      <form class="panel query" onSubmit={look}>
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
        <EntryList
          member="filters"
          {...{ fields, findings }}
          entries={filters}
          onChange={setFilters}
        />
        <h2>Set</h2>
        <EntryList
          member="fields"
          fields={fields.filter(({ writable }) => writable)}
          findings={findings}
          entries={values}
          onChange={setValues}
        />
        <div class="line run">
          <button type="submit" class={current === undefined ? "primary" : ""} disabled={busy}>
            {busy ? "Trying…" : "Preview"}
          </button>
          <span class="small muted">Does everything and keeps nothing: tx=rollback</span>
        </div>
      </form>
      <div role="status">
        {sent?.body !== undefined && (
          <p class="done">
            <b>Done.</b> {countRows(sent.body.updated)} changed.
          </p>
        )}
      </div>
      {refused?.error !== undefined && (
        <Refusal
          outcome={refused}
          findings={findings.filter(({ path }) => !isPlaced(path))}
          placed={findings.some(({ path }) => isPlaced(path))}
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
      <RequestPanel request={current === undefined ? request : makeRealRequest(current)} />
    </>
  );
}

function isSame(one: Request, other: Request): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Says how many rows. */
export function countRows(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}
