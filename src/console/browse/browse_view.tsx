import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { OpenTable, Row, RowRights } from "../api.ts";
import { ErrorMessage, readIssues } from "../error_message.tsx";
import type { PlacedIssue } from "../filter_editor.tsx";
import { findNode, type GroupNode } from "../filter_tree.ts";
import type { PlaceQuery } from "../frame/address.ts";
import { useControlKey } from "../frame/keys.ts";
import { useContentFocus } from "../frame/focus.ts";
import { TableHead } from "../table_head.tsx";
import { useDraft, writeDraft } from "./draft.ts";
import { type Export, ExportNotice } from "./export_menu.tsx";
import { FilterArea } from "./filter_area.tsx";
import { type CellPlace, Grid } from "./grid.tsx";
import { type Creating, mayCreateIn, OpenedRow } from "./opened_row.tsx";
import { Pager } from "./pager.tsx";
import { findColumns, findSort, makeQueryRequest } from "./query_request.ts";
import { RowsToolbar } from "./rows_toolbar.tsx";
import { sortBy } from "./sort_by.ts";
import { useRows } from "./use_rows.ts";

interface BrowseViewProps extends OpenTable {
  readonly query: PlaceQuery;
  readonly rights: RowRights;
  /** False while another view is shown. */
  readonly isShown: boolean;
  /** Changes when rows may have changed. */
  readonly version: number;
  /** The exports of all tables. */
  readonly exporting: Export;
  readonly onQuery: (query: PlaceQuery) => void;
  /** Called when a row was changed here. */
  readonly onChanged: () => void;
}

/** The rows of a table: its first page at once, then what is chosen of it. */
export function BrowseView(props: BrowseViewProps) {
  const { token, table, fields, query, isShown, version, exporting, onQuery } = props;
  const queried = { table, fields };
  const byName = useMemo(() => new Map(fields.map((field) => [field.name, field])), [fields]);
  const rows = useRows({ token, table, fields, query, isShown, version });
  const draft = useDraft(table.name, query.filter);
  const [isOpen, setOpen] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<number>>(new Set());
  const [cell, setCell] = useState<CellPlace>();
  const [row, setRow] = useState<Row>();
  const [creating, setCreating] = useState<Creating>();
  const [focus, setFocus] = useState(0);
  // The focus goes to the rows once those of a new table or filter are there.
  const awaitsFocus = useRef(true);

  const { answer, page } = rows;
  const records = page?.response.body?.records ?? [];
  const shown = page?.query ?? query;
  const failed = answer?.response.error === undefined ? undefined : answer.response;
  const issues: readonly PlacedIssue[] = readIssues(failed?.error)
    .map((issue) => ({ ...issue, place: findNode(draft.root, issue.path) }));
  const marked = issues.filter(({ place }) => place !== undefined && !touched.has(place.id));
  const isStale = draft.isChanged || (failed !== undefined && page !== undefined);

  const run = (root: GroupNode) => {
    const filter = writeDraft(root, byName);
    setTouched(new Set());
    awaitsFocus.current = true;
    draft.keep(root, filter);
    onQuery({ ...query, filter, page: 1 });
    if (JSON.stringify(filter) === JSON.stringify(query.filter)) rows.reload();
  };
  // A filter that has run is folded away; one that failed stays open, with its problems.
  useEffect(() => {
    if (answer === undefined) return;
    setOpen((before) => failed === undefined ? before && draft.isChanged : marked.length > 0);
    if (failed !== undefined) setTimeout(focusFirstInvalid);
    else if (awaitsFocus.current && isShown) setFocus((count) => count + 1);
    awaitsFocus.current = false;
  }, [answer]);
  // Without rows, the focus goes to the name of the table; back from another view, to where it was.
  useContentFocus("h1", focus > 0 && records.length === 0 ? focus : undefined);
  useContentFocus('.grid [tabindex="0"]', isShown || undefined);
  const isCovered = cell !== undefined || row !== undefined || creating !== undefined;
  useControlKey(
    "Enter",
    isShown && !isCovered ? () => run(draft.root) : undefined,
  );

  const columns = useMemo(() => {
    const wanted = findColumns(shown.columns, queried);
    return wanted.filter((name) => byName.has(name));
  }, [shown.columns.join(), fields]);
  const grid = useMemo(() => (
    <Grid
      label={`Rows of ${table.name}`}
      rows={records}
      columns={columns}
      fields={byName}
      frozen={table.primary_key.length}
      sort={findSort(shown, queried)}
      isStale={isStale}
      focus={focus}
      onSort={(field, more) => {
        // The head that is clicked shows the order of the key too, if nothing else was chosen.
        const before = more ? query.sort : findSort(query, queried);
        onQuery({ ...query, ...sortBy(before, field, more), page: 1 });
      }}
      onOpenRow={(index) => setRow(records[index])}
      onOpenCell={setCell}
    />
  ), [records, columns, isStale, focus, query]);
  const inspected = cell && records[cell.row];

  return (
    <section class="browse" aria-label="Rows" aria-busy={rows.busy}>
      <TableHead table={table}>
        <RowsToolbar
          {...{ table, fields, query, onQuery }}
          root={draft.root}
          isOpen={isOpen}
          onToggle={() => {
            awaitsFocus.current = false;
            setOpen(!isOpen);
          }}
          onExport={(form) =>
            exporting.start({ table: table.name, form, request: makeQueryRequest(query, queried) })}
          onNew={mayCreateIn(table, props.rights) ? () => setCreating({}) : undefined}
          isExporting={exporting.state?.isRunning === true}
          request={makeQueryRequest({ ...query, filter: writeDraft(draft.root, byName) }, queried)}
        />
      </TableHead>
      <FilterArea
        {...{ draft, isOpen }}
        fields={byName}
        issues={marked}
        busy={rows.busy}
        onOpen={() => setOpen(true)}
        onTouch={(id) => setTouched(new Set([...touched, id]))}
        onRun={run}
      />
      {isStale && failed === undefined && (
        <div class="notice stale-notice" role="status">
          <span>The filter has changed. These are still the rows of the one before.</span>
          {!isOpen && <button type="button" onClick={() => run(draft.root)}>Run</button>}
        </div>
      )}
      {failed !== undefined && (
        <ErrorMessage
          response={failed}
          issues={issues.filter(({ place }) => place === undefined)}
          marked={marked.length > 0 ? "above" : undefined}
          note={page === undefined ? undefined : "Below are still the rows of the query before."}
        />
      )}
      <ExportNotice running={exporting} />
      {answer === undefined && <p class="empty-state late" role="status">Reading rows…</p>}
      {page !== undefined && (records.length > 0 ? grid : (
        <p class="empty-state">
          {shown.filter === undefined ? "This table has no rows." : "No row matches the filter."}
        </p>
      ))}
      {page?.response.body !== undefined && (
        <Pager
          page={page.response.body}
          durationMs={page.response.durationMs}
          busy={rows.busy}
          onPage={(number) => onQuery({ ...query, page: number })}
          onSize={(perPage) => onQuery({ ...query, perPage, page: 1 })}
        />
      )}
      <OpenedRow
        {...{ token, table, fields, byName, row, creating }}
        cell={cell && inspected && { row: inspected, column: cell.column }}
        rights={props.rights}
        onCloseCell={() => setCell(undefined)}
        onRow={setRow}
        onCreating={setCreating}
        onChanged={props.onChanged}
      />
    </section>
  );
}

function focusFirstInvalid(): void {
  const control = document.querySelector<HTMLElement>('.filter-panel [aria-invalid="true"]');
  control?.focus();
  // Its problem is below it, and a long filter scrolls.
  control?.closest(".condition")?.scrollIntoView({ block: "nearest" });
}
