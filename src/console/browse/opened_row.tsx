import type { Field, OpenTable, Row } from "../api.ts";
import { RowDrawer } from "../edit/row_drawer.tsx";
import { parseValue } from "../../describe/reference/example_value.ts";
import { CellInspector } from "./cell_inspector.tsx";

interface OpenedRowProps extends OpenTable {
  readonly byName: ReadonlyMap<string, Field>;
  /** The row of the opened cell, and the column; undefined: no cell is open. */
  readonly cell: { readonly row: Row; readonly column: string } | undefined;
  /** The opened row. */
  readonly row: Row | undefined;
  readonly mayUpdate: boolean;
  readonly onCloseCell: () => void;
  /** Opens another row, or none. */
  readonly onRow: (row: Row | undefined) => void;
  readonly onChanged: () => void;
}

/** The cell that was opened to be read, and the row that was opened to be edited. */
export function OpenedRow(props: OpenedRowProps) {
  const { token, table, fields, byName, cell, row, onCloseCell, onRow } = props;
  const hasKey = table.primary_key.length > 0;
  const keyOf = (of: Row) =>
    Object.fromEntries(
      table.primary_key.map((name) => [
        name,
        parseValue(String(of[name]), byName.get(name)?.type),
      ]),
    );
  return (
    <>
      {cell !== undefined && (
        <CellInspector
          name={cell.column}
          field={byName.get(cell.column)}
          value={cell.row[cell.column]}
          onClose={onCloseCell}
          onOpenRow={hasKey
            ? () => {
              onCloseCell();
              onRow(cell.row);
            }
            : undefined}
        />
      )}
      {row !== undefined && (
        <RowDrawer
          {...{ token, table, fields, row }}
          filters={keyOf(row)}
          editable={props.mayUpdate && table.writable && hasKey}
          onClose={() => onRow(undefined)}
          onSaved={props.onChanged}
        />
      )}
    </>
  );
}
