import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiRequest } from "../api.ts";
import { Menu } from "../frame/menu.tsx";
import { type ExportForm, exportRows, saveFile } from "./export_rows.ts";

/** What is known of an export. */
export interface ExportState {
  readonly text: string;
  readonly isRunning: boolean;
  readonly isProblem: boolean;
}

interface ExportOptions {
  readonly token: string;
  readonly table: string;
  /** The query whose rows are exported. */
  readonly request: ApiRequest;
}

/** An export, and how far it is. */
export interface Export {
  readonly state: ExportState | undefined;
  readonly start: (form: ExportForm) => void;
  readonly cancel: () => void;
}

/** Exports the rows of a query to a file, one export at a time. */
export function useExport({ token, table, request }: ExportOptions): Export {
  const [state, setState] = useState<ExportState>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const say = (text: string, isProblem = false) => setState({ text, isRunning: false, isProblem });
  async function run(form: ExportForm): Promise<void> {
    running.current?.abort();
    const aborter = new AbortController();
    running.current = aborter;
    const name = `${table}.${form}`;
    const show = (bytes: number) =>
      setState({ text: `${name}: ${printBytes(bytes)}`, isRunning: true, isProblem: false });
    show(0);
    try {
      const { signal } = aborter;
      const blob = await exportRows({ token, request, form, signal, onProgress: show });
      saveFile(blob, name);
      say(`Saved ${name}, ${printBytes(blob.size)}`);
    } catch (error) {
      if (aborter.signal.aborted) say(`${name} was cancelled; nothing was saved`);
      else say(`${name} was not saved: ${error instanceof Error ? error.message : error}`, true);
    }
  }
  return { state, start: (form) => void run(form), cancel: () => running.current?.abort() };
}

function printBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

interface ExportMenuProps {
  readonly onStart: (form: ExportForm) => void;
  readonly isFiltered: boolean;
}

/** Chooses the form of an export. */
export function ExportMenu({ onStart, isFiltered }: ExportMenuProps) {
  return (
    <Menu label="Export" title="Export" align="end">
      {(close) => (
        <>
          <p class="small muted">
            {isFiltered ? "Every row that the filter finds" : "Every row of the table"}, with the
            columns and the sort of this page
          </p>
          {([["csv", "CSV", "for spreadsheets"], [
            "ndjson",
            "NDJSON",
            "a line of JSON a row",
          ]] as const)
            .map(([form, label, note]) => (
              <button
                key={form}
                type="button"
                class="quiet item"
                onClick={() => {
                  close();
                  onStart(form);
                }}
              >
                {label} <span class="small muted">{note}</span>
              </button>
            ))}
        </>
      )}
    </Menu>
  );
}

interface ExportNoticeProps {
  readonly running: Export;
}

/** How far an export is, and what became of it. */
export function ExportNotice({ running: { state, cancel } }: ExportNoticeProps) {
  return (
    <div class={`notice${state?.isProblem ? " wrong" : ""}`} hidden={state === undefined}>
      <span role="status">{state?.text}</span>
      {state?.isRunning && <button type="button" class="quiet" onClick={cancel}>Cancel</button>}
    </div>
  );
}
