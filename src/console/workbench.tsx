import { useEffect, useMemo, useState } from "preact/hooks";
import { type Field, isReadOnly, readFields, type RowRights, type Table } from "./api.ts";
import { BrowseView } from "./browse/browse_view.tsx";
import { useExport } from "./browse/export_menu.tsx";
import { ChangesView } from "./changes_view.tsx";
import { UpdateView } from "./edit/update_view.tsx";
import type { PlaceQuery, TableView } from "./frame/address.ts";
import { SectionList } from "./section_list.tsx";
import type { Session } from "./session.tsx";
import { TableHead } from "./table_head.tsx";

interface WorkbenchProps {
  readonly session: Session;
  /** Undefined: another view is shown, and this one hidden. */
  readonly view: TableView | undefined;
  /** The name of the table of the address. */
  readonly tableName: string | undefined;
  readonly query: PlaceQuery;
  readonly onTable: (name: string) => void;
  readonly onQuery: (query: PlaceQuery) => void;
}

/** The tables of the token, and one of them to look at, update or follow. */
export function Workbench(props: WorkbenchProps) {
  const { session, view, tableName, query, onTable, onQuery } = props;
  const { token, tables } = session;
  const may = (scope: string) => session.info.scopes.includes(scope);
  const mayUpdate = may("update");
  const rights: RowRights = {
    ...{ mayQuery: may("query"), mayUpdate },
    ...{ mayCreate: may("create"), mayDelete: may("delete") },
  };
  const table = tables.find(({ name }) => name === tableName);
  const description = useDescription(token, table);
  // Feeds are followed while another view or table is looked at.
  const [followed, setFollowed] = useState<readonly Described[]>([]);
  const [version, setVersion] = useState(0);
  const exporting = useExport(token);
  const isNew = description?.fields !== undefined && view === "changes" &&
    followed.every((each) => each.table !== description.table);
  if (isNew) setFollowed([...followed, description as Described]);
  const sections = useMemo(
    () =>
      tables.map((each) => ({
        name: each.name,
        note: isReadOnly(each) ? "read only" : undefined,
        title: each.comment ?? undefined,
      })),
    [tables],
  );
  const { fields, problem } = description ?? {};
  return (
    <div class="bench fixed tables" hidden={view === undefined}>
      <SectionList
        title="Tables"
        label="Table"
        sections={sections}
        chosen={tableName ?? ""}
        onChoose={onTable}
      />
      <main id={view && "main"} tabIndex={-1}>
        {tables.length === 0 && <p class="empty-state">This token gives access to no table.</p>}
        {tables.length > 0 && table === undefined && (
          <p class="empty-state">
            {tableName}{" "}
            is not among the tables of this token. Choose another one, or enter the token with which
            the link was made.
          </p>
        )}
        {problem !== undefined && <p class="problem" role="alert">{problem}</p>}
        {table !== undefined && fields === undefined && <TableHead table={table} />}
        {table !== undefined && fields !== undefined && (
          <>
            <div class="view" hidden={view !== "rows"}>
              <BrowseView
                key={table.name}
                {...{ token, table, fields, query, version, exporting, rights, onQuery }}
                isShown={view === "rows"}
                onChanged={() => setVersion(version + 1)}
              />
            </div>
            {view === "update" && (
              <div class="view padded">
                <UpdateView
                  key={table.name}
                  {...{ token, table, fields }}
                  filter={query.filter}
                  mayUpdate={mayUpdate}
                  onChanged={() => setVersion(version + 1)}
                />
              </div>
            )}
          </>
        )}
        {followed.map((each) => {
          const isShown = view === "changes" && each.table === table;
          return (
            <div key={each.table.name} class="view padded" hidden={!isShown}>
              <ChangesView {...{ token, isShown }} table={each.table} fields={each.fields} />
            </div>
          );
        })}
      </main>
    </div>
  );
}

interface Described {
  readonly table: Table;
  readonly fields: readonly Field[];
}

interface Description {
  readonly table: Table;
  readonly fields: readonly Field[] | undefined;
  readonly problem: string | undefined;
}

/** Reads the columns of a table once; undefined until they are there. */
function useDescription(token: string, table: Table | undefined): Description | undefined {
  const [known, setKnown] = useState<ReadonlyMap<Table, Description>>(new Map());
  useEffect(() => {
    if (table === undefined || known.get(table)?.fields !== undefined) return;
    void readFields(token, table.name).then(({ body, error }) =>
      setKnown((before) =>
        new Map(before).set(table, { table, fields: body?.fields, problem: error })
      )
    );
  }, [token, table]);
  return table && known.get(table);
}
