import { useState } from "preact/hooks";
import type { Field, OpenTable, Row, RowRights, Table } from "../api.ts";
import { DeleteRowDrawer, type Deleting } from "../edit/delete_row_drawer.tsx";
import { NewRowDrawer } from "../edit/new_row_drawer.tsx";
import { RowDrawer } from "../edit/row_drawer.tsx";
import { parseValue } from "../../describe/reference/example_value.ts";
import { CellInspector } from "./cell_inspector.tsx";

/** A row that is being created, from the values of another one or from none. */
export interface Creating {
  readonly base?: Row;
  /** Whether the key is among the values: the other row is no longer there. */
  readonly withKey?: boolean;
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

/** The cell that was opened to be read, the row that was opened, and what is done with it. */
export function OpenedRow(props: OpenedRowProps) {
  const { token, table, fields, byName, cell, row, rights, onCloseCell, onRow } = props;
  const [created, setCreated] = useState<Row>();
  const [deleting, setDeleting] = useState<Deleting>();
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
          onDelete={rights.mayDelete && table.deletable === true && hasKey
            ? (opened) => {
              onRow(undefined);
              setDeleting(opened);
            }
            : undefined}
          onClose={() => onRow(undefined)}
          onSaved={props.onChanged}
        />
      )}
      <RowInQuestion {...props} {...{ deleting }} onDeleting={setDeleting} onCreated={setCreated} />
    </>
  );
}

interface RowInQuestionProps extends OpenedRowProps {
  /** The row that is being deleted; undefined: none is. */
  readonly deleting: Deleting | undefined;
  readonly onDeleting: (deleting: Deleting | undefined) => void;
  readonly onCreated: (row: Row) => void;
}

/** The row that is about to be deleted, or to be created. */
function RowInQuestion(props: RowInQuestionProps) {
  const { token, table, fields, creating, deleting, rights, onRow, onDeleting } = props;
  return (
    <>
      {deleting !== undefined && (
        <DeleteRowDrawer
          {...{ token, table, fields, ...deleting }}
          filters={keyOf(deleting.row, props)}
          onBack={() => {
            onDeleting(undefined);
            onRow(deleting.row);
          }}
          onClose={() => onDeleting(undefined)}
          onDeleted={props.onChanged}
          onCreateAgain={mayCreateIn(table, rights)
            ? (base) => {
              onDeleting(undefined);
              props.onCreating({ base, withKey: true });
            }
            : undefined}
        />
      )}
      {creating !== undefined && (
        <NewRowDrawer
          {...{ token, table, fields }}
          base={creating.base}
          withKey={creating.withKey === true}
          mayQuery={rights.mayQuery}
          onClose={() => props.onCreating(undefined)}
          onCreated={(stored) => {
            props.onChanged();
            if (stored === undefined) return;
            props.onCreating(undefined);
            props.onCreated(stored);
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
