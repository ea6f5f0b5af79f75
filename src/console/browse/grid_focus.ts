/**
 * Moves the focus in a grid by the pattern of ARIA: one cell is in the order of Tab, arrow keys lead to
 * the others. The DOM keeps which one it is: a page of 200 rows of 100 columns is not drawn again for it.
 */

/** How far a key leads, in rows and columns. */
const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [10, 0],
  PageUp: [-10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** Handles a key in a grid; reports whether it moved the focus. */
export function moveInGrid(table: HTMLTableElement, event: KeyboardEvent): boolean {
  const step = STEPS[event.key];
  const cell = (event.target as Element).closest<HTMLTableCellElement>("td, th");
  if (step === undefined || cell === null || event.altKey) return false;
  const [rows, columns] = step;
  const isCorner = event.ctrlKey && (event.key === "Home" || event.key === "End");
  const { rowIndex } = cell.parentElement as HTMLTableRowElement;
  const row = clamp(rowIndex + (isCorner ? columns : rows), table.rows.length);
  const target = table.rows[row]!;
  focusCell(table, target.cells[clamp(cell.cellIndex + columns, target.cells.length)]!);
  return true;
}

function clamp(index: number, length: number): number {
  return Math.max(0, Math.min(length - 1, index));
}

/** Focuses a cell, or what it holds to be pressed, and makes it the one that Tab leads to. */
export function focusCell(table: HTMLTableElement, cell: HTMLTableCellElement): void {
  markCell(table, cell);
  partOf(cell).focus();
}

/** Makes a cell the one that Tab leads to. */
export function markCell(table: HTMLTableElement, cell: HTMLTableCellElement): void {
  const target = partOf(cell);
  for (const other of table.querySelectorAll<HTMLElement>('[tabindex="0"]')) {
    if (other !== target) other.tabIndex = -1;
  }
  target.tabIndex = 0;
}

function partOf(cell: HTMLTableCellElement): HTMLElement {
  return cell.querySelector("button") ?? cell;
}

/** The first cell of a row in a grid that holds a value, not an action. */
export function findFirstCell(table: HTMLTableElement): HTMLTableCellElement | undefined {
  const row = table.tBodies[0]?.rows[0];
  return row?.cells[Math.min(1, row.cells.length - 1)];
}
