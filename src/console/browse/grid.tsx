import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Field, Row } from "../api.ts";
import type { SortItem } from "../query_options.tsx";
import { isNumber } from "../../describe/reference/example_value.ts";
import { printCell, printWhole } from "./cell_text.ts";
import { findFirstCell, focusCell, markCell, moveInGrid } from "./grid_focus.ts";

/** Where a cell is. */
export interface CellPlace {
  readonly row: number;
  readonly column: string;
}

interface GridProps {
  readonly label: string;
  readonly rows: readonly Row[];
  /** In their order on the screen; the key comes first. */
  readonly columns: readonly string[];
  readonly fields: ReadonlyMap<string, Field>;
  /** How many of the first columns stay in sight. */
  readonly frozen: number;
  readonly sort: readonly SortItem[];
  /** `more`: the column is added to those sorted by already. */
  readonly onSort: (field: string, more: boolean) => void;
  readonly onOpenRow: (row: number) => void;
  readonly onOpenCell: (cell: CellPlace) => void;
  /** The rows are not those of what is chosen now. */
  readonly isStale: boolean;
  /** Changes when the first cell is to get the focus. */
  readonly focus: number;
}

/** Rows in a grid whose head, first columns and actions stay in sight, and whose cells open. */
export function Grid(props: GridProps) {
  const { label, rows, columns, fields, frozen, sort, onSort, onOpenRow, onOpenCell } = props;
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    const first = findFirstCell(table.current!);
    if (first !== undefined) markCell(table.current!, first);
    freeze(table.current!, frozen);
  }, [rows, columns, frozen]);
  useEffect(() => {
    const first = findFirstCell(table.current!);
    if (props.focus > 0 && first !== undefined) focusCell(table.current!, first);
  }, [props.focus]);
  const placeOf = (target: EventTarget | null): CellPlace | undefined => {
    const cell = (target as Element).closest<HTMLTableCellElement>("td[data-cell]");
    if (cell === null) return undefined;
    const { sectionRowIndex } = cell.parentElement as HTMLTableRowElement;
    return { row: sectionRowIndex, column: columns[cell.cellIndex - 1]! };
  };
  const open = (event: Event) => {
    const place = placeOf(event.target);
    if (place === undefined) return;
    event.preventDefault();
    onOpenCell(place);
  };
  return (
    <div class={`grid-scroll${props.isStale ? " stale" : ""}`}>
      <table
        ref={table}
        role="grid"
        class="grid"
        aria-label={label}
        onKeyDown={(event) => {
          if (moveInGrid(table.current!, event)) event.preventDefault();
          else if (!event.ctrlKey && (event.key === "Enter" || event.key === " ")) open(event);
        }}
        onCopy={(event) => {
          const place = placeOf(event.target);
          if (place === undefined || getSelection()?.isCollapsed === false) return;
          event.preventDefault();
          event.clipboardData?.setData("text/plain", printWhole(rows[place.row]![place.column]));
        }}
        onFocusIn={(event) => {
          const cell = (event.target as Element).closest<HTMLTableCellElement>("td, th");
          if (cell !== null) markCell(table.current!, cell);
        }}
        onPointerDown={(event) => {
          const cell = (event.target as Element).closest("td[data-cell]");
          // The second click on a cell opens it; a finger needs only one.
          const isSecond = cell !== null && cell === document.activeElement;
          if (cell instanceof HTMLElement) {
            cell.dataset.armed = String(isSecond || event.pointerType === "touch");
          }
        }}
        onClick={(event) => {
          const cell = (event.target as Element).closest<HTMLElement>("td[data-cell]");
          const hasSelection = getSelection()?.isCollapsed === false;
          if (cell?.dataset.armed === "true" && !hasSelection) open(event);
        }}
      >
        <thead>
          <tr>
            <th scope="col" class="open-cell">
              <span class="hidden">Open the row</span>
            </th>
            {columns.map((name, at) => (
              <ColumnHead
                key={name}
                name={name}
                field={fields.get(name)}
                at={sort.findIndex(({ field }) => field === name)}
                sort={sort}
                frozen={findFrozen(at, frozen)}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <td class="open-cell">
                <button
                  type="button"
                  class="quiet"
                  tabIndex={-1}
                  aria-label={`Open row ${index + 1}`}
                  onClick={() => onOpenRow(index)}
                >
                  <span aria-hidden="true">⤢</span>
                </button>
              </td>
              {columns.map((name, at) => (
                <Cell
                  key={name}
                  value={row[name]}
                  type={fields.get(name)?.type ?? ""}
                  frozen={findFrozen(at, frozen)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The classes of a column: whether it stays in sight, and whether others scroll away beside it. */
function findFrozen(at: number, frozen: number): string {
  return at >= frozen ? "" : at === frozen - 1 ? " frozen edge" : " frozen";
}

/** Says to the style sheet where each frozen column begins, and what they cover of what scrolls. */
function freeze(table: HTMLTableElement, frozen: number): void {
  const heads = [...table.tHead!.rows[0]!.cells].slice(0, frozen + 1);
  let left = 0;
  for (const [at, head] of heads.entries()) {
    for (const row of table.rows) row.cells[at]!.style.left = `${left}px`;
    left += head.getBoundingClientRect().width;
  }
  (table.parentElement as HTMLElement).style.scrollPaddingLeft = `${left}px`;
}

interface ColumnHeadProps {
  readonly name: string;
  readonly field: Field | undefined;
  /** Its place among the columns sorted by; -1: none. */
  readonly at: number;
  readonly sort: readonly SortItem[];
  readonly frozen: string;
  readonly onSort: (field: string, more: boolean) => void;
}

function ColumnHead({ name, field, at, sort, frozen, onSort }: ColumnHeadProps) {
  const type = field?.type ?? "";
  const direction = sort[at]?.direction;
  const arrow = direction === undefined ? "" : direction === "asc" ? "↑" : "↓";
  const sortable = field?.operators.includes("lt") === true;
  return (
    <th
      scope="col"
      tabIndex={sortable ? undefined : -1}
      class={`${isNumber(type) ? "number" : ""}${frozen}`}
      aria-sort={at === 0 ? (direction === "asc" ? "ascending" : "descending") : undefined}
    >
      {sortable
        ? (
          <button
            type="button"
            class="quiet"
            tabIndex={-1}
            title="Sort; with Shift, sort by this too"
            onClick={(event) => onSort(name, event.shiftKey)}
          >
            {name}
            <span class="arrow">{arrow}{sort.length > 1 && arrow !== "" ? at + 1 : ""}</span>
          </button>
        )
        : <span class="name">{name}</span>}
      <span class="type">{type}</span>
    </th>
  );
}

interface CellProps {
  readonly value: unknown;
  readonly type: string;
  readonly frozen: string;
}

function Cell({ value, type, frozen }: CellProps) {
  const { look, text } = printCell(value, type);
  return <td data-cell tabIndex={-1} class={`${look}${frozen}`}>{text}</td>;
}
