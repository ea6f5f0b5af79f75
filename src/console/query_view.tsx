import { useMemo, useState } from "preact/hooks";
import { ask, type Outcome, type Request } from "./ask.ts";
import { ColumnPicker } from "./column_picker.tsx";
import type { Entry } from "./entry_list.tsx";
import {
  countConditions,
  type FilterNode,
  type GroupNode,
  locate,
  makeGroup,
  replaceNode,
  writeFilter,
} from "./filter_tree.ts";
import { readFindings } from "./finding.ts";
import { type EditorProps, GroupEditor, type PlacedFinding } from "./group_editor.tsx";
import { type Page, QueryResult } from "./query_result.tsx";
import { RequestPanel } from "./request_panel.tsx";
import { SortEditor, type SortItem } from "./sort_editor.tsx";
import type { TableProps } from "./workbench.tsx";

const PAGE_SIZES = [10, 25, 50, 100, 200];

/** What a person has put together so far. */
interface Draft {
  readonly root: GroupNode;
  readonly select: readonly string[];
  readonly sort: readonly SortItem[];
  readonly perPage: number;
}

interface QueryViewProps extends TableProps {
  /** Opens the update of one row. */
  readonly onEdit: (filters: readonly Entry[]) => void;
}

/** Builds a query, sends it, shows what came. */
export function QueryView({ token, table, fields, onEdit }: QueryViewProps) {
  const [draft, setDraft] = useState<Draft>(() => ({
    root: makeGroup(),
    select: [],
    sort: [],
    perPage: 25,
  }));
  const [sent, setSent] = useState<Draft>();
  const [outcome, setOutcome] = useState<Outcome<Page>>();
  const [findings, setFindings] = useState<readonly PlacedFinding[]>([]);
  const [busy, setBusy] = useState(false);
  const byName = useMemo(() => new Map(fields.map((field) => [field.name, field])), [fields]);
  const { root, select, sort, perPage } = draft;
  const request = (of: Draft, page = 1): Request => ({
    method: "POST",
    path: `integration/tables/${table.name}/query`,
    body: {
      ...(of.root.items.length > 0 && { filters: writeFilter(of.root, byName) }),
      ...(of.root.items.length === 0 && of.root.combine === "or" && { filters: { or: [] } }),
      ...(of.select.length > 0 && { select: of.select }),
      ...(of.sort.length > 0 && { sort: of.sort }),
      ...(page > 1 && { page }),
      per_page: of.perPage,
    },
  });

  async function run(of: Draft, page = 1): Promise<void> {
    if (busy) return;
    setBusy(true);
    const answered = await ask<Page>(token, request(of, page));
    setBusy(false);
    setSent(of);
    setOutcome(answered);
    const found = readFindings(answered.error ?? "").filter(({ message }) => message !== "");
    setFindings(found.map((one) => ({ ...one, place: locate(of.root, one.path) })));
    if (found.length > 0) setTimeout(focusWrong);
  }

  const put = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const editor: EditorProps = {
    root,
    fields: byName,
    findings,
    change: (id, node) => {
      put({ root: id === root.id ? node as GroupNode : replaceNode(root, id, () => node) });
      setFindings(findings.filter(({ place }) => place?.id !== id));
    },
    remove: (id) => put({ root: replaceNode(root, id, () => undefined as FilterNode | undefined) }),
  };
  const sortBy = (field: string) => {
    const before = (sent ?? draft).sort.find((item) => item.field === field)?.direction;
    const next: readonly SortItem[] = before === "desc"
      ? []
      : [{ field, direction: before === "asc" ? "desc" : "asc" }];
    put({ sort: next });
    void run({ ...sent ?? draft, sort: next });
  };
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
          Filter <span class="normal">{tellConditions(root)}</span>
        </h2>
        <GroupEditor node={root} depth={1} editor={editor} />
        <div class="setting">
          <h2>Columns</h2>
          <ColumnPicker fields={fields} select={select} onChange={(to) => put({ select: to })} />
        </div>
        <div class="setting">
          <h2>Sort</h2>
          <SortEditor fields={fields} sort={sort} onChange={(to) => put({ sort: to })} />
        </div>
        <div class="line run">
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Asking…" : "Run"}
          </button>
          <kbd class="muted wide-only">Ctrl ⏎</kbd>
          <label class="line">
            <span class="muted">rows a page</span>
            <select
              value={perPage}
              onChange={(event) => put({ perPage: Number(event.currentTarget.value) })}
            >
              {PAGE_SIZES.map((size) => <option key={size} value={size}>{size}</option>)}
            </select>
          </label>
        </div>
      </form>
      <QueryResult
        outcome={outcome}
        busy={busy}
        findings={findings.filter(({ place }) => place === undefined)}
        placed={findings.some(({ place }) => place !== undefined)}
        fields={byName}
        sort={sent?.sort ?? []}
        onSort={sortBy}
        onPage={(page) => void run(sent ?? draft, page)}
        onEdit={!table.writable || table.primary_key.length === 0
          ? undefined
          : (row) =>
            onEdit(table.primary_key.map((field) => ({
              field,
              text: String(row[field]),
              isNull: false,
            })))}
        primaryKey={table.primary_key}
      />
      <RequestPanel request={request(draft)} />
    </>
  );
}

function tellConditions(root: GroupNode): string {
  const count = countConditions(root);
  if (count === 0) return "";
  return count === 1 ? "1 condition" : `${count} conditions`;
}

function focusWrong(): void {
  document.querySelector<HTMLElement>('.query [aria-invalid="true"]')?.focus();
}
