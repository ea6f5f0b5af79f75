import { useMemo, useState } from "preact/hooks";
import {
  type ApiRequest,
  type ApiResponse,
  type OpenTable,
  type Page,
  type Row,
  sendRequest,
} from "./api.ts";
import type { ColumnValue } from "./column_values.tsx";
import { readIssues } from "./error_message.tsx";
import { type FilterContext, GroupEditor, type PlacedIssue } from "./filter_editor.tsx";
import {
  countConditions,
  findNode,
  type GroupNode,
  makeGroup,
  replaceNode,
  writeFilter,
} from "./filter_tree.ts";
import { sortKeyless } from "./keyless_sort.ts";
import { ColumnPicker, SortEditor, type SortItem } from "./query_options.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { QueryResult } from "./rows.tsx";

const PAGE_SIZES = [10, 25, 50, 100, 200];

/** The query on the screen. */
interface Draft {
  readonly root: GroupNode;
  readonly select: readonly string[];
  readonly sort: readonly SortItem[];
  readonly perPage: number;
}

interface QueryViewProps extends OpenTable {
  /** Opens the update of one row, given by its key. */
  readonly onEdit: (filters: readonly ColumnValue[]) => void;
}

/** Builds a query, sends it and shows the result. */
export function QueryView({ token, table, fields, onEdit }: QueryViewProps) {
  const [draft, setDraft] = useState<Draft>(() => ({
    root: makeGroup(),
    select: [],
    sort: [],
    perPage: 25,
  }));
  const [sent, setSent] = useState<Draft>();
  const [response, setResponse] = useState<ApiResponse<Page>>();
  const [issues, setIssues] = useState<readonly PlacedIssue[]>([]);
  const [busy, setBusy] = useState(false);
  const byName = useMemo(() => new Map(fields.map((field) => [field.name, field])), [fields]);
  const { root, select, sort, perPage } = draft;
  const makeRequest = (query: Draft, page = 1): ApiRequest => ({
    method: "POST",
    path: `integration/tables/${table.name}/query`,
    body: {
      ...(query.root.items.length > 0 && { filters: writeFilter(query.root, byName) }),
      ...(query.root.items.length === 0 && query.root.combine === "or" && { filters: { or: [] } }),
      ...(query.select.length > 0 && { select: query.select }),
      ...(query.sort.length > 0 ? { sort: query.sort } : sortKeyless(table, fields)),
      ...(page > 1 && { page }),
      per_page: query.perPage,
    },
  });

  /** A page token costs the same on every page, and rows that come or go do not shift the page. */
  function makePageRequest(query: Draft, page: number): ApiRequest {
    if (table.primary_key.length === 0) return makeRequest(query, page);
    const prefer = "page-token";
    const { next, body } = response ?? {};
    if (next === undefined || query !== sent || page !== body!.page + 1) {
      return { ...makeRequest(query, page), prefer };
    }
    const request = makeRequest(query);
    return { ...request, path: `${request.path}?after=${next}`, prefer };
  }

  async function run(query: Draft, page = 1): Promise<void> {
    if (busy) return;
    setBusy(true);
    const received = await sendRequest<Page>(token, makePageRequest(query, page));
    setBusy(false);
    setSent(query);
    setResponse(received);
    const found = readIssues(received.error);
    setIssues(found.map((issue) => ({ ...issue, place: findNode(query.root, issue.path) })));
    if (found.length > 0) setTimeout(focusFirstInvalid);
  }

  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const context: FilterContext = {
    root,
    fields: byName,
    issues,
    change: (id, node) => {
      change({ root: id === root.id ? node as GroupNode : replaceNode(root, id, () => node) });
      setIssues(issues.filter(({ place }) => place?.id !== id));
    },
    remove: (id) => change({ root: replaceNode(root, id, () => undefined) }),
  };
  const sortBy = (field: string) => {
    const before = (sent ?? draft).sort.find((item) => item.field === field)?.direction;
    const next: readonly SortItem[] = before === "desc"
      ? []
      : [{ field, direction: before === "asc" ? "desc" : "asc" }];
    change({ sort: next });
    void run({ ...sent ?? draft, sort: next });
  };
  const editRow = (row: Row) =>
    onEdit(
      table.primary_key.map((field) => ({ field, text: String(row[field]), isNull: false })),
    );
  const submit = (event: Event) => {
    event.preventDefault();
    void run(draft);
  };
  return (
    <>
      <form
        class="panel query"
        onSubmit={submit}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
        }}
      >
        <h2>
          Filter <span class="normal">{describeSize(root)}</span>
        </h2>
        <GroupEditor node={root} depth={1} context={context} />
        <div class="setting">
          <h2>Columns</h2>
          <ColumnPicker fields={fields} select={select} onChange={(to) => change({ select: to })} />
        </div>
        <div class="setting">
          <h2>Sort</h2>
          <SortEditor fields={fields} sort={sort} onChange={(to) => change({ sort: to })} />
        </div>
        <div class="line run">
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Running…" : "Run"}
          </button>
          <kbd class="muted wide-only">Ctrl ⏎</kbd>
          <label class="line">
            <span class="muted">rows per page</span>
            <select
              value={perPage}
              onChange={(event) => change({ perPage: Number(event.currentTarget.value) })}
            >
              {PAGE_SIZES.map((size) => <option key={size} value={size}>{size}</option>)}
            </select>
          </label>
        </div>
      </form>
      <QueryResult
        response={response}
        busy={busy}
        issues={issues.filter(({ place }) => place === undefined)}
        hasMarkedIssues={issues.some(({ place }) => place !== undefined)}
        fields={byName}
        sort={sent?.sort ?? []}
        primaryKey={table.primary_key}
        onSort={sortBy}
        onPage={(page) => void run(sent ?? draft, page)}
        onEdit={table.writable && table.primary_key.length > 0 ? editRow : undefined}
      />
      <RequestPanel request={makeRequest(draft)} />
    </>
  );
}

function describeSize(root: GroupNode): string {
  const count = countConditions(root);
  if (count === 0) return "";
  return count === 1 ? "1 condition" : `${count} conditions`;
}

function focusFirstInvalid(): void {
  document.querySelector<HTMLElement>('.query [aria-invalid="true"]')?.focus();
}
