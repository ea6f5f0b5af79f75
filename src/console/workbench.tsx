import { useEffect, useState } from "preact/hooks";
import { type Field, readFields, type Table } from "./api.ts";
import { ChangesView } from "./changes_view.tsx";
import type { ColumnValue } from "./column_values.tsx";
import { FieldTable } from "./field_table.tsx";
import { QueryView } from "./query_view.tsx";
import { SectionList } from "./section_list.tsx";
import type { Session } from "./session.tsx";
import { UpdateView } from "./update_view.tsx";

/** What can be done with a table. */
export type TableView = "rows" | "update" | "changes";

interface WorkbenchProps {
  readonly session: Session;
  readonly view: TableView;
  readonly onView: (view: TableView) => void;
}

/** The tables of the token, and one of them to query, update or follow. */
export function Workbench({ session, view, onView }: WorkbenchProps) {
  const { token, tables } = session;
  const [table, setTable] = useState(tables.find(({ writable }) => writable) ?? tables[0]);
  const [description, setDescription] = useState<Description>();
  const [filters, setFilters] = useState<readonly ColumnValue[]>([]);
  // From then on it is only hidden, so that a feed is followed while another view is used.
  const [hasFollowed, setHasFollowed] = useState(false);
  if (view === "changes" && !hasFollowed) setHasFollowed(true);
  useEffect(() => {
    if (table !== undefined) void describeTable(token, table).then(setDescription);
  }, [token, table]);
  if (table === undefined) {
    return <main id="main" class="empty-state">This token gives access to no table.</main>;
  }
  // While the description of another table is being read, the last one still stands in the state.
  const { fields, problem } = description?.table === table
    ? description
    : { fields: undefined, problem: undefined };
  return (
    <div class="bench">
      <SectionList
        title="Tables"
        label="Table"
        sections={tables.map(({ name, writable, comment }) => ({
          name,
          note: writable ? undefined : "read only",
          title: comment ?? undefined,
        }))}
        chosen={table.name}
        onChoose={(name) => {
          setTable(tables.find((each) => each.name === name));
          setFilters([]);
        }}
      />
      <main id="main">
        <div class="table-head">
          <h1>{table.name}</h1>
          {!table.writable && <span class="badge">read only</span>}
          <p class="muted">{table.comment}</p>
        </div>
        <p class="problem" role="alert">{problem}</p>
        {fields !== undefined && (
          <>
            <FieldList fields={fields} />
            <div hidden={view !== "rows"}>
              <QueryView
                key={table.name}
                {...{ token, table, fields }}
                onEdit={(key) => {
                  setFilters(key);
                  onView("update");
                }}
              />
            </div>
            {hasFollowed && (
              <div hidden={view !== "changes"}>
                <ChangesView key={table.name} {...{ token, table, fields }} />
              </div>
            )}
            {view === "update" && (
              <UpdateView key={table.name} {...{ token, table, fields }} initialFilters={filters} />
            )}
          </>
        )}
      </main>
    </div>
  );
}

/** The columns of a table, folded away until they are asked for. */
function FieldList({ fields }: { readonly fields: readonly Field[] }) {
  return (
    <details class="panel fields">
      <summary>
        <h2>Fields</h2> <span class="muted">{fields.length}</span>
        <span class="names muted">{fields.map(({ name }) => name).join(" · ")}</span>
      </summary>
      <FieldTable fields={fields} />
    </details>
  );
}

interface Description {
  readonly table: Table;
  readonly fields: readonly Field[] | undefined;
  readonly problem: string | undefined;
}

async function describeTable(token: string, table: Table): Promise<Description> {
  const response = await readFields(token, table.name);
  return { table, fields: response.body?.fields, problem: response.error };
}
