import { useState } from "preact/hooks";
import type { ApiRequest, Field, Table } from "../api.ts";
import { FieldTable } from "../field_table.tsx";
import { countConditions, type GroupNode } from "../filter_tree.ts";
import type { PlaceQuery } from "../frame/address.ts";
import { Drawer } from "../frame/drawer.tsx";
import { Menu } from "../frame/menu.tsx";
import { ColumnPicker, SortEditor } from "../query_options.tsx";
import { RequestPanel } from "../request_panel.tsx";
import { ExportMenu } from "./export_menu.tsx";
import type { ExportForm } from "./export_rows.ts";

interface RowsToolbarProps {
  readonly table: Table;
  readonly fields: readonly Field[];
  readonly query: PlaceQuery;
  readonly root: GroupNode;
  readonly isOpen: boolean;
  /** The query on the screen, to be copied. */
  readonly request: ApiRequest;
  readonly onToggle: () => void;
  readonly onQuery: (query: PlaceQuery) => void;
  readonly onExport: (form: ExportForm) => void;
  readonly isExporting: boolean;
  /** Begins a new row; undefined: the token may create none here. */
  readonly onNew: (() => void) | undefined;
}

/** What can be chosen of the rows, and what can be done with them. */
export function RowsToolbar(props: RowsToolbarProps) {
  const { table, fields, query, root, isOpen, request, onToggle, onQuery, onExport } = props;
  const [drawer, setDrawer] = useState<"fields" | "request">();
  const conditions = countConditions(root);
  const chosen = new Set([...table.primary_key, ...query.columns]).size;
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        Filter {conditions > 0 && <span class="count">{conditions}</span>}
      </button>
      <Menu
        label={<>Sort {query.sort.length > 0 && <span class="count">{query.sort.length}</span>}</>}
        title="Sort"
      >
        {() => (
          <SortEditor
            fields={fields}
            sort={query.sort}
            otherwise={table.primary_key.length > 0
              ? `by ${table.primary_key.join(", ")}`
              : "by every column that has an order"}
            onChange={(sort) => onQuery({ ...query, sort, page: 1 })}
          />
        )}
      </Menu>
      <Menu
        label={
          <>
            Columns{" "}
            {query.columns.length > 0 && <span class="count">{chosen} of {fields.length}</span>}
          </>
        }
        title="Columns"
      >
        {() => (
          <ColumnPicker
            fields={fields}
            select={query.columns}
            required={table.primary_key}
            onChange={(columns) => onQuery({ ...query, columns })}
          />
        )}
      </Menu>
      <span class="toolbar-gap" />
      {props.onNew !== undefined && <button type="button" onClick={props.onNew}>New row</button>}
      <button type="button" class="wide-only" onClick={() => setDrawer("fields")}>Fields</button>
      <button type="button" onClick={() => setDrawer("request")}>Request</button>
      <ExportMenu
        onStart={onExport}
        isFiltered={query.filter !== undefined}
        isRunning={props.isExporting}
      />
      {drawer === "fields" && (
        <Drawer
          title={`Fields of ${table.name}`}
          kind="wide"
          onClose={() => setDrawer(undefined)}
        >
          <FieldTable fields={fields} />
        </Drawer>
      )}
      {drawer === "request" && (
        <Drawer
          title="This query as a request"
          onClose={() => setDrawer(undefined)}
        >
          <RequestPanel request={request} />
        </Drawer>
      )}
    </>
  );
}
