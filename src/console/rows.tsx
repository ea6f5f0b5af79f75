import type { ApiResponse, Field, Page, Row } from "./api.ts";
import { ErrorMessage, type Issue } from "./error_message.tsx";
import type { SortItem } from "./query_options.tsx";
import { isNumber } from "./value.ts";

interface QueryResultProps {
  readonly response: ApiResponse<Page> | undefined;
  readonly busy: boolean;
  /** The issues that belong to no condition on the screen. */
  readonly issues: readonly Issue[];
  /** True when conditions show issues too. */
  readonly hasMarkedIssues: boolean;
  readonly fields: ReadonlyMap<string, Field>;
  readonly sort: readonly SortItem[];
  readonly primaryKey: readonly string[];
  readonly onSort: (field: string) => void;
  readonly onPage: (page: number) => void;
  /** Undefined: rows of this table cannot be updated. */
  readonly onEdit: ((row: Row) => void) | undefined;
}

/** The result of a query: a page of rows with the total and the time taken, or the error. */
export function QueryResult(props: QueryResultProps) {
  const { response, busy, issues, hasMarkedIssues, fields, sort, primaryKey } = props;
  const page = response?.body;
  const editable = page?.records[0] !== undefined &&
    primaryKey.every((name) => Object.hasOwn(page.records[0]!, name));
  return (
    <section class="result" aria-label="Rows" aria-busy={busy}>
      <p role="status" class="row-count">{page && describePage(page, response!.durationMs)}</p>
      {response !== undefined && page === undefined && (
        <ErrorMessage response={response} issues={issues} hasMarkedIssues={hasMarkedIssues} />
      )}
      {page !== undefined && page.records.length > 0 && (
        <RowsTable
          label="Rows of the page"
          rows={page.records}
          {...{ fields, sort }}
          onSort={props.onSort}
          onEdit={editable ? props.onEdit : undefined}
        />
      )}
      {page !== undefined && <Pager page={page} busy={busy} onPage={props.onPage} />}
    </section>
  );
}

function describePage({ total, records }: Page, durationMs: number): string {
  const all = total === null ? "" : ` of ${total.toLocaleString("en")}`;
  const ms = Math.max(1, Math.round(durationMs)).toLocaleString("en");
  return `${countRows(records.length)}${all} · ${ms} ms`;
}

/** Prints a number of rows: `1 row`, `2,500 rows`. */
export function countRows(count: number): string {
  return count === 1 ? "1 row" : `${count.toLocaleString("en")} rows`;
}

interface PagerProps {
  readonly page: Page;
  readonly busy: boolean;
  readonly onPage: (page: number) => void;
}

function Pager({ page: { page, per_page, total }, busy, onPage }: PagerProps) {
  const last = Math.max(1, Math.ceil((total ?? 0) / per_page));
  if (last === 1 && page === 1) return null;
  const steps = [
    ["First", 1, page > 1],
    ["Previous", page - 1, page > 1],
    ["Next", page + 1, page < last],
    ["Last", last, page < last],
  ] as const;
  return (
    <nav class="line pager" aria-label="Pages">
      {steps.map(([label, target, possible], index) => (
        <>
          {index === 2 && <span key="page">page {page} of {last.toLocaleString("en")}</span>}
          <button
            key={label}
            type="button"
            class={label === "First" || label === "Last" ? "wide-only" : ""}
            aria-disabled={!possible || busy}
            onClick={() => possible && !busy && onPage(target)}
          >
            {label}
          </button>
        </>
      ))}
    </nav>
  );
}

interface RowsTableProps {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly fields: ReadonlyMap<string, Field>;
  readonly sort?: readonly SortItem[];
  readonly onSort?: (field: string) => void;
  readonly onEdit?: ((row: Row) => void) | undefined;
}

/** Rows under the names and types of their columns; NULL and empty text look like no value does. */
export function RowsTable({ label, rows, fields, sort = [], onSort, onEdit }: RowsTableProps) {
  const names = Object.keys(rows[0] ?? {});
  return (
    <div class="scroll rows" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <ColumnHead
                key={name}
                name={name}
                field={fields.get(name)}
                direction={sort.find(({ field }) => field === name)?.direction}
                onSort={onSort}
              />
            ))}
            {onEdit !== undefined && (
              <th scope="col">
                <span class="hidden">Update</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <Cell key={name} value={row[name]} type={fields.get(name)?.type ?? ""} />
              ))}
              {onEdit !== undefined && (
                <td>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Update row ${index + 1}`}
                    onClick={() => onEdit(row)}
                  >
                    Update
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ColumnHeadProps {
  readonly name: string;
  readonly field: Field | undefined;
  readonly direction: "asc" | "desc" | undefined;
  readonly onSort: ((field: string) => void) | undefined;
}

function ColumnHead({ name, field, direction, onSort }: ColumnHeadProps) {
  const type = field?.type ?? "";
  const arrow = direction === undefined ? "" : direction === "asc" ? " ↑" : " ↓";
  return (
    <th
      scope="col"
      class={isNumber(type) ? "number" : ""}
      aria-sort={direction && (direction === "asc" ? "ascending" : "descending")}
    >
      {onSort !== undefined && field?.operators.includes("lt")
        ? (
          <button type="button" class="quiet" onClick={() => onSort(name)}>
            {name}
            {arrow}
          </button>
        )
        : <span class="name">{name}</span>}
      <span class="type">{type}</span>
    </th>
  );
}

function Cell({ value, type }: { readonly value: unknown; readonly type: string }) {
  if (value === undefined) return <td />;
  if (value === null || value === "") {
    return (
      <td class={isNumber(type) ? "number" : ""}>
        <span class="null">{value === null ? "NULL" : "empty text"}</span>
      </td>
    );
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const kind = isNumber(type) ? "number" : typeof value === "string" ? "text" : "json";
  return <td class={kind} title={text.length > 40 ? text : undefined}>{text}</td>;
}
