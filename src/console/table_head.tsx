import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { isReadOnly, type Table } from "./api.ts";

/** Opens the choice of tables and actions; views need it on narrow screens, which have no side bar. */
export const PaletteContext = createContext<() => void>(() => {});

interface TableHeadProps {
  readonly table: Table;
  /** What can be done in this view. */
  readonly children?: ComponentChildren;
}

/** The name of the table, and what can be done with it in this view. */
export function TableHead({ table, children }: TableHeadProps) {
  const openPalette = useContext(PaletteContext);
  return (
    <header class="table-head">
      <h1 tabIndex={-1}>{table.name}</h1>
      <button
        type="button"
        class="narrow-only quiet"
        aria-label="Choose another table"
        onClick={openPalette}
      >
        <span aria-hidden="true">▾</span>
      </button>
      {isReadOnly(table) && <span class="badge">read only</span>}
      <p class="muted table-comment" title={table.comment ?? undefined}>{table.comment}</p>
      {children !== undefined && <div class="toolbar">{children}</div>}
    </header>
  );
}
