import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiRequest } from "../api.ts";
import { Menu } from "../frame/menu.tsx";
import { type ExportForm, saveFile, saveRows } from "./export_rows.ts";

/** The state of an export. */
export interface ExportState {
  readonly text: string;
  readonly isRunning: boolean;
  readonly isProblem: boolean;
}

/** What is exported. */
export interface ExportOrder {
  readonly table: string;
  /** The query whose rows are exported. */
  readonly request: ApiRequest;
  readonly form: ExportForm;
}

/** An export, and how far it is. */
export interface Export {
  readonly state: ExportState | undefined;
  readonly start: (order: ExportOrder) => void;
  readonly cancel: () => void;
  /** Removes the notice about the last export. */
  readonly dismiss: () => void;
}

/**
 * Exports the rows of a query to a file, one export at a time. It continues while other views are
 * open.
 */
export function useExport(token: string): Export {
  const [state, setState] = useState<ExportState>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const say = (text: string, isProblem = false) => setState({ text, isRunning: false, isProblem });
  async function run({ table, request, form }: ExportOrder): Promise<void> {
    const aborter = new AbortController();
    running.current = aborter;
    const name = `${table}.${form}`;
    const show = (bytes: number) =>
      setState({ text: `${name}: ${printBytes(bytes)}`, isRunning: true, isProblem: false });
    show(0);
    try {
      const { signal } = aborter;
      const blob = await saveRows({ token, request, form, signal, onProgress: show });
      saveFile(blob, name);
      say(`Saved ${name}, ${printBytes(blob.size)}`);
    } catch (error) {
      if (aborter.signal.aborted) say(`${name} was cancelled; nothing was saved`);
      else say(`${name} was not saved: ${error instanceof Error ? error.message : error}`, true);
    }
  }
  return {
    state,
    start: (order) => void run(order),
    cancel: () => running.current?.abort(),
    dismiss: () => setState(undefined),
  };
}

function printBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

interface ExportMenuProps {
  readonly onStart: (form: ExportForm) => void;
  readonly isFiltered: boolean;
  /** Whether an export is running. */
  readonly isRunning: boolean;
}

const FORMS = [
  ["csv", "CSV", "for spreadsheets"],
  ["ndjson", "NDJSON", "a line of JSON a row"],
] as const;

/** Chooses the form of an export. */
export function ExportMenu({ onStart, isFiltered, isRunning }: ExportMenuProps) {
  return (
    <Menu label="Export" title="Export" align="end">
      {(close) => (
        <>
          <p class="small muted">
            {isFiltered ? "Every row that the filter finds" : "Every row of the table"}, with the
            columns and the sort of this page
          </p>
          {FORMS.map(([form, label, note]) => (
            <button
              key={form}
              type="button"
              class="quiet item"
              disabled={isRunning}
              onClick={() => {
                close();
                onStart(form);
              }}
            >
              {label} <span class="small muted">{note}</span>
            </button>
          ))}
          {isRunning && <p class="small">Another export is on its way: wait, or cancel it.</p>}
        </>
      )}
    </Menu>
  );
}

interface ExportNoticeProps {
  readonly running: Export;
}

/** The progress or the result of an export. */
export function ExportNotice({ running: { state, cancel, dismiss } }: ExportNoticeProps) {
  return (
    <div class={`notice${state?.isProblem ? " wrong" : ""}`} hidden={state === undefined}>
      <span role="status">{state?.text}</span>
      {state?.isRunning
        ? <button type="button" class="quiet" onClick={cancel}>Cancel</button>
        : <button type="button" class="quiet" aria-label="Dismiss" onClick={dismiss}>✕</button>}
    </div>
  );
}
