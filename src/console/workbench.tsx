import { useEffect, useState } from "preact/hooks";
import type { View } from "./app.tsx";
import { ask } from "./ask.ts";
import type { Field, TableEntry } from "./field.ts";
import { FieldList } from "./field_list.tsx";
import { QueryView } from "./query_view.tsx";
import type { Session } from "./session.ts";
import { TableList } from "./table_list.tsx";
import type { Entry } from "./entry_list.tsx";
import { UpdateView } from "./update_view.tsx";

/** What both views of a table are given. */
export interface TableProps {
  readonly token: string;
  readonly table: TableEntry;
  readonly fields: readonly Field[];
}

interface WorkbenchProps {
  readonly session: Session;
  readonly view: View;
  readonly onView: (view: View) => void;
}

/** The tables of the token, and one of them to query or to update. */
export function Workbench({ session, view, onView }: WorkbenchProps) {
  const { token, tables } = session;
  const [table, setTable] = useState(tables.find(({ writable }) => writable) ?? tables[0]);
  const [described, setDescribed] = useState<Described>();
  const [chosen, setChosen] = useState<readonly Entry[]>([]);
  useEffect(() => {
    if (table !== undefined) void describe(token, table).then(setDescribed);
  }, [token, table]);
  if (table === undefined) {
    return <main id="main" class="empty-state">This token opens no table.</main>;
  }
  const choose = (next: TableEntry) => {
    setTable(next);
    setChosen([]);
  };
  const { fields, problem } = described?.table === table
    ? described
    : { fields: undefined, problem: undefined };
  return (
    <div class="bench">
      <TableList tables={tables} chosen={table} onChoose={choose} />
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
                onEdit={(filters) => {
                  setChosen(filters);
                  onView("update");
                }}
              />
            </div>
            {view === "update" && (
              <UpdateView key={table.name} {...{ token, table, fields }} chosen={chosen} />
            )}
          </>
        )}
      </main>
    </div>
  );
}

interface Described {
  readonly table: TableEntry;
  readonly fields: readonly Field[] | undefined;
  readonly problem: string | undefined;
}

async function describe(token: string, table: TableEntry): Promise<Described> {
  const path = `integration/tables/${table.name}/fields`;
  const outcome = await ask<{ readonly fields: readonly Field[] }>(token, { method: "GET", path });
  return { table, fields: outcome.body?.fields, problem: outcome.error };
}
