import { useState } from "preact/hooks";
import type { Field, OpenTable, Row, RowRights, Table } from "../api.ts";
import { NewRowDrawer } from "../edit/new_row_drawer.tsx";
import { RowDrawer } from "../edit/row_drawer.tsx";
import { parseValue } from "../../describe/reference/example_value.ts";
import { CellInspector } from "./cell_inspector.tsx";

/** A row that is being created, from the values of another one or from none. */
export interface Creating {
  readonly base?: Row;
}

interface OpenedRowProps extends OpenTable {
  readonly byName: ReadonlyMap<string, Field>;
  /** The row of the opened cell, and the column; undefined: no cell is open. */
  readonly cell: { readonly row: Row; readonly column: string } | undefined;
  /** The opened row. */
  readonly row: Row | undefined;
  /** The row that is being created; undefined: none is. */
  readonly creating: Creating | undefined;
  readonly rights: RowRights;
  readonly onCloseCell: () => void;
  /** Opens another row, or none. */
  readonly onRow: (row: Row | undefined) => void;
  /** Begins another new row, or none. */
  readonly onCreating: (creating: Creating | undefined) => void;
  readonly onChanged: () => void;
}

/** The cell that was opened to be read, the row that was opened to be edited, and the new row. */
export function OpenedRow(props: OpenedRowProps) {
  const { token, table, fields, byName, cell, row, creating, rights, onCloseCell, onRow } = props;
  const [created, setCreated] = useState<Row>();
  const hasKey = table.primary_key.length > 0;
  const isCreatable = mayCreateIn(table, rights);
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
          filters={keyOf(row, props)}
          editable={rights.mayUpdate && table.writable && hasKey}
          done={row === created ? "Created." : undefined}
          onDuplicate={isCreatable
            ? (base) => {
              onRow(undefined);
              props.onCreating({ base });
            }
            : undefined}
          onClose={() => onRow(undefined)}
          onSaved={props.onChanged}
        />
      )}
      {creating !== undefined && (
        <NewRowDrawer
          {...{ token, table, fields }}
          base={creating.base}
          mayQuery={rights.mayQuery}
          onClose={() => props.onCreating(undefined)}
          onCreated={(stored) => {
            props.onChanged();
            if (stored === undefined) return;
            props.onCreating(undefined);
            setCreated(stored);
            onRow(stored);
          }}
        />
      )}
    </>
  );
}

/** The key of a row, as filters have it. */
function keyOf(
  row: Row,
  { table, byName }: Pick<OpenedRowProps, "table" | "byName">,
): Readonly<Record<string, unknown>> {
  const read = (name: string) => parseValue(String(row[name]), byName.get(name)?.type);
  return Object.fromEntries(table.primary_key.map((name) => [name, read(name)]));
}

/** Whether a token may create rows in a table. */
export function mayCreateIn({ creatable }: Table, { mayCreate }: RowRights): boolean {
  return mayCreate && creatable === true;
}
